
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A shutdown that comes while a raise is being applied, under load, takes no longer than on a server without walsizer: fast,
# smart and immediate. Afterwards the server starts, and the change is either there and walsizer's own, or it is not there.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);
use WalsizerDamage;
use WalsizerTest;

use constant ROUNDS => 2;

my %settings = (max_wal_size => '64MB', checkpoint_timeout => '300s');
my %server   = (
	without => new_node('without', { %settings, shared_preload_libraries => '' }),
	with    => new_node('with', \%settings));

# The moment: a raise was announced and is on its way; elsewhere as much WAL as it takes to get there.
sub wait_for_the_moment
{
	my ($node, $lsn, $offset) = @_;
	return wal_reaches($node, $lsn, 30 * MB) if $node == $server{without};
	my $deadline = time + 30;
	usleep(2000) until log_lines($node, $offset, qr/walsizer raises/) || time > $deadline;
	return;
}

# Seconds from the order (smart: from the end of the last session) to the end of the postmaster.
sub time_to_stop
{
	my ($node, $mode) = @_;
	my ($lsn, $offset) = (now_lsn($node), log_size($node));
	my $load = start_wal($node, rate => 40, seconds => 60);
	wait_for_the_moment($node, $lsn, $offset);
	my $began = time;
	if ($mode eq 'smart')
	{
		my $out;
		my $stop = IPC::Run::start([ 'pg_ctl', '-D', $node->data_dir, '-m', 'smart', '-t', 60, 'stop' ], '>', \$out);
		eventually('the order', sub { log_lines($node, $offset, qr/received smart shutdown request/) });
		$load->{run}->kill_kill(grace => 0);
		$began = time;
		ok($stop->finish, $node->name . ', smart: it stops');
		$node->{_pid} = undef;
	}
	else
	{
		$node->stop($mode);
	}
	my $seconds = time - $began;
	$load->{run}->kill_kill(grace => 0);
	$load->{run} = undef;
	return $seconds;
}

foreach my $mode (qw(fast smart immediate))
{
	my %longest = (with => 0, without => 0);
	foreach my $round (1 .. ROUNDS)
	{
		foreach my $name (qw(without with))
		{
			my $node = $server{$name};
			$name eq 'with' ? start_node($node) : $node->start;
			my $seconds = time_to_stop($node, $mode);
			$longest{$name} = $seconds if $seconds > $longest{$name};
		}
		my $node   = $server{with};
		my $offset = log_size($node);
		start_node($node);
		my $size = max_wal_size($node) / MB;
		ok($size == 64 || decided_sizes($node)->{$size}, "$mode: afterwards it runs with $size MB, which was decided");
		is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'}), 0, "$mode: nobody else is blamed");
		is(scalar(log_lines($node, $offset, qr/walsizer sets aside|ERROR|PANIC/)), 0, "$mode: nothing is broken");
		$node->psql('postgres', 'SELECT walsizer.undo()') if $size != 64;
		value($node, 'SELECT walsizer.resume()');
		is(max_wal_size($node), 64 * MB, "$mode: back at the start");
		$node->stop;
	}
	# pg_ctl looks ten times a second. Immediate has no checkpoint to wait for: there a second would be a worker that was
	# waited for.
	cmp_ok($longest{with}, '<', 2 * $longest{without} + 1,
		sprintf('%s: at most %.2f s with walsizer, %.2f s without', $mode, $longest{with}, $longest{without}));
}

done_testing();
