
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A backend dies of kill -9, so that the postmaster restarts everything, and just then the history file is damaged: what
# runs in the postmaster itself must not trip over it. The server always comes back, and walsizer with it.
#
# WALSIZER_TEST_CRASHES (4).

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerDamage;
use WalsizerTest;

my $crashes = $ENV{WALSIZER_TEST_CRASHES} // 4;

my $node = new_node('crashing', { checkpoint_timeout => '300s' });
start_node($node);
my $load = start_wal($node, rate => 30, seconds => 60);
eventually('a raise', sub { max_wal_size($node) > 64 * MB });
stop_load($load);
eventually('a history', sub { -s history_path($node) });
my $good       = history_bytes($node);
my $postmaster = $node->{_pid};

my @damages = (
	[ 'noise',     join('', map { chr(rand 256) } 1 .. 5000) ],
	[ 'cut',       substr($good, 0, length($good) / 3) ],
	[ 'zeroed',    "\0" x length($good) ],
	[ 'a bit',     substr($good, 0, 500) . chr(ord(substr($good, 500, 1)) ^ 1) . substr($good, 501) ],
	[ 'endless',   undef ]);

foreach my $crash (1 .. $crashes)
{
	my ($what, $bytes) = @{ $damages[ $crash % @damages ] };
	my $busy   = start_load($node, "SELECT pg_sleep(600);\n", -t => 1);
	my $victim = eventually(
		'a backend',
		sub { value($node, q{SELECT pid FROM pg_stat_activity WHERE query ~ 'pg_sleep' AND pid <> pg_backend_pid()}) });
	my $offset = log_size($node);
	if (defined $bytes)
	{
		write_history($node, $bytes);
	}
	else
	{
		unlink history_path($node);
		symlink '/dev/zero', history_path($node) or die "cannot make a link: $!";
	}
	kill_pid($node, $victim);
	$busy->{run}->kill_kill(grace => 1);
	$busy->{run} = undef;
	ok(kill(0, $postmaster), "crash $crash, $what: the postmaster lives");
	is(value($node, 'SELECT 1'), 1, "crash $crash, $what: the server answers");
	is(scalar(log_lines($node, $offset, qr/walsizer sets aside/)), 1, "crash $crash, $what: set aside once");
	is(status($node)->{state}, 'tuning', "crash $crash, $what: walsizer works");
	value($node, 'SELECT walsizer.evaluate()');
	ok(soon(sub { -f history_path($node) && !-l history_path($node) && -s history_path($node) > 1000 }), "crash $crash, $what: it writes a new one");
	unlink history_path($node) . '.damaged';
}

$node->restart;
look($node);
is(status($node)->{state}, 'tuning', 'a restart after all that');

done_testing();
