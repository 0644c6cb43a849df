
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# kill -9 at random moments under load: of the postmaster, of the worker (the postmaster then restarts everything), of the
# postmaster in the middle of an undo(). After each: the history is readable, nothing that was closed is lost, max_wal_size
# is a value that walsizer decided or the one it started from, nobody else is blamed for it, and undo() knows the original.
#
# WALSIZER_TEST_ROUNDS (6), WALSIZER_TEST_SEED.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time usleep);
use WalsizerDamage;
use WalsizerTest;

use constant START => 64;

my $rounds = $ENV{WALSIZER_TEST_ROUNDS} // 6;
my $seed   = $ENV{WALSIZER_TEST_SEED}   // int(time);
srand $seed;
note("WALSIZER_TEST_SEED=$seed WALSIZER_TEST_ROUNDS=$rounds");

my $node = new_node('main', { max_wal_size => START . 'MB', checkpoint_timeout => '30s' });
start_node($node);

# What must survive: rows that had a second to reach the disk.
sub remembered
{
	return {
		decisions => [ rows($node, q{SELECT id, action, new_size FROM walsizer.decisions WHERE decided_at < now() - interval '1 s'}) ],
		windows   => [ rows($node, q{SELECT window_start FROM walsizer.windows WHERE window_end < now() - interval '1 s' AND wal_bytes > 0}) ]
	};
}

sub lost
{
	my ($before) = @_;
	my %decisions = map { $_->{id} => $_ } rows($node, 'SELECT id, action, new_size FROM walsizer.decisions');
	my %windows   = map { $_->{window_start} => 1 } rows($node, 'SELECT window_start FROM walsizer.windows');
	return (
		(map { "decision $_->{id}" } grep { my $now = $decisions{ $_->{id} }; !$now || $now->{action} ne $_->{action} || $now->{new_size} != $_->{new_size} } @{ $before->{decisions} }),
		(map { "window $_->{window_start}" } grep { !$windows{ $_->{window_start} } } @{ $before->{windows} }));
}

# The moment: in turn some WAL after the load began, or a hair after a raise was announced.
sub wait_for_the_moment
{
	my ($round, $offset) = @_;
	if ($round % 2)
	{
		wal_reaches($node, now_lsn($node), int(rand(20 * MB)));
	}
	else
	{
		my $deadline = time + 10;
		usleep(1000) until log_lines($node, $offset, qr/walsizer raises/) || time > $deadline;
	}
	# The hair itself is the random part: from the ALTER SYSTEM to the note of its outcome.
	usleep(int(rand(150_000)));
	return;
}

my %killed = (postmaster => 0, worker => 0, undo => 0);
my @kinds  = qw(postmaster worker undo);

sub end_it
{
	my ($kind) = @_;
	if ($kind eq 'worker')
	{
		my $pid = eventually('a worker', sub { status($node)->{worker_pid} });
		kill_pid($node, $pid);
		return 1;
	}
	if ($kind eq 'undo')
	{
		my $undo = start_load($node, "SELECT walsizer.undo();\n", -t => 1);
		usleep(int(rand(400_000)));
		kill_postmaster($node);
		$undo->{run}->kill_kill(grace => 1);
		$undo->{run} = undef;
	}
	else
	{
		kill_postmaster($node);
	}
	return start_again($node);
}

sub survived
{
	my ($round, $kind, $before, $offset) = @_;
	my $what = "round $round, $kind";
	is(scalar(log_lines($node, $offset, qr/walsizer sets aside|walsizer could not/)), 0, "$what: the history is readable");
	my @lost = lost($before);
	is(scalar(@lost), 0, "$what: nothing lost") or diag("lost: @lost");
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'}), 0, "$what: nobody else is blamed");
	my $size    = max_wal_size($node) / MB;
	my $decided = decided_sizes($node);
	ok($size == START || $decided->{$size}, "$what: max_wal_size of $size MB was decided, or is the start value");
	is(status($node)->{max_wal_size}, $size * MB, "$what: walsizer knows it");
	return;
}

foreach my $round (1 .. $rounds)
{
	my $kind   = $kinds[ $round % @kinds ];
	my $offset = log_size($node);
	my $load   = start_wal($node, rate => 15 + rand(15), seconds => 60);
	my $alive  = eval {
		wait_for_the_moment($round, $offset);
		my $before = remembered();
		$killed{$kind}++;
		end_it($kind) or die "the server does not start again\n";
		survived($round, $kind, $before, $offset);
		1;
	};
	my $error = $@;
	$load->{run}->kill_kill(grace => 1);
	$load->{run} = undef;
	ok($alive, "round $round, $kind: the server is back") or BAIL_OUT($error);

	# Every round ends where it began, so that the next one has raises again.
	my $original = status($node)->{original_size};
	if (defined $original && max_wal_size($node) != START * MB)
	{
		is($original, START * MB, "round $round, $kind: the original is known");
		my $undo = row($node, 'SELECT * FROM walsizer.undo()');
		is($undo->{new_size}, START * MB, "round $round, $kind: undo() restores it");
	}
	is(max_wal_size($node), START * MB, "round $round, $kind: back at the start value");
	is(auto_conf($node), '', "round $round, $kind: no line is left in postgresql.auto.conf");
	value($node, 'SELECT walsizer.resume()');
}
note(join ', ', map { "$killed{$_} x $_" } sort keys %killed);
# From the server's log: a kill right after the announcement may come before the decision is on disk.
cmp_ok(scalar(log_lines($node, 0, qr/walsizer raises/)), '>=', $rounds / 2, 'there were raises all the time');

done_testing();
