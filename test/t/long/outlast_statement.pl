
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A statement longer than checkpoint_timeout goes on forcing checkpoints at the trigger it started with, so none ever
# comes near the new one, and nothing is in sight. What it writes in one checkpoint_timeout is a measured need all the
# same: at the end of each window with two or more "stale" checkpoints walsizer raises to it, at most doubling, and stops
# there. The next such load then starts with what it needs.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant {
	TIMEOUT     => 30,
	SECONDS     => 125,    # of one statement: four windows end in it
	OLD_TRIGGER => 48 * MB,
	TARGET      => 0.01,
};

# As in 012_long_statement.pl: no pacing, so that each forced checkpoint shows, and the statement itself finishes segments.
my $node = start_node(
	new_node(
		'main',
		{
			max_wal_size                 => '64MB',
			checkpoint_completion_target => TARGET,
			checkpoint_timeout           => TIMEOUT . 's',
			wal_buffers                  => '64kB',
			wal_writer_delay             => '10s'
		}));
value($node, 'CREATE TABLE big (payload text, lsn pg_lsn)');

# 20 MB/s: 2 MB ten times a second. One statement, $seconds long.
sub start_statement
{
	my ($seconds) = @_;
	my $batches = $seconds * 10;
	return start_load($node, <<"SQL", -t => 1);
INSERT INTO big SELECT repeat('x', 1000), pg_logical_emit_message(false, 'load', repeat('x', 20000)) FROM (WITH RECURSIVE batch(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM batch WHERE n < $batches AND pg_sleep(0.095 + 0 * n) IS NOT NULL) SELECT n FROM batch) b, LATERAL generate_series(1, 100 + 0 * n);
SQL
}

# The load's own account, by PostgreSQL's LSN: the most that fell into one checkpoint_timeout.
my $load = start_statement(SECONDS);
my @seen;
my $running = q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO big%' AND state = 'active'};
eventually('the statement', sub { value($node, $running) });
while (value($node, $running))
{
	push @seen, [ time, wal_written($node, $load->{lsn}) ];
	soon(sub { !value($node, $running) }, 0.5);
}
finish_load($load);
my ($most, $from) = (0, 0);
foreach my $to (0 .. $#seen)
{
	$from++ while $seen[$to][0] - $seen[$from][0] > TIMEOUT;
	my $wal = $seen[$to][1] - $seen[$from][1];
	$most = $wal if $wal > $most;
}
my $need = ($most + 16 * MB) * (1 + TARGET);
note(sprintf 'the statement ran %.0f s and wrote %.0f MB, at most %.0f MB in %d s: a need of %.0f MB',
	$load->{ended} - $load->{began}, $load->{wal} / MB, $most / MB, TIMEOUT, $need / MB);
cmp_ok($load->{ended} - $load->{began}, '>', 2 * TIMEOUT, 'the statement outlasted two timeouts');
cmp_ok($need, '>', 256 * MB, 'and needs more than two doublings');

my @grows = grows($node);
my ($first, @further) = @grows;
note("$_->{old_size} to $_->{new_size}: $_->{reason}") foreach @grows;
my ($raised_at) = value($node, q{SELECT extract(epoch FROM min(decided_at)) FROM walsizer.decisions WHERE action = 'grow'});

subtest 'it kept its old trigger, and its checkpoints came out stale' => sub {
	my @later = forced($node, $raised_at + 1, $load->{ended});
	cmp_ok(scalar(@later), '>=', 10, 'it forced ' . @later . ' checkpoints after the first raise');
	is(scalar(grep { ($_->{distance} // 0) > 2 * OLD_TRIGGER } @later), 0, 'each at the old distance');
	# With the last raises' own moments in mind: what ends a cycle that began before one may come out forced.
	my $stale = value($node, 'SELECT num_stale FROM walsizer.stat');
	cmp_ok($stale, '>=', @later - @grows, "$stale of them stale");
	cmp_ok(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), '<=', 2 + @grows, 'and no more than a few forced');
};

subtest 'raises at the ends of windows, bounded' => sub {
	cmp_ok(scalar(@further), '>=', 2, 'more raises than the one before the first forced checkpoint');
	like($_->{reason}, qr/a statement that began before the last raise forced \d+ checkpoints at its old trigger/, 'by the rule for it')
	  foreach @further;
	cmp_ok($_->{new_size}, '<=', 2 * $_->{old_size}, "$_->{old_size} at most doubled") foreach @grows;
	my @at = map { $_->{at} } rows($node, q{SELECT extract(epoch FROM decided_at) AS at FROM walsizer.decisions WHERE action = 'grow' ORDER BY id});
	shift @at;
	cmp_ok($at[$_] - $at[ $_ - 1 ], '>', 0.9 * TIMEOUT, 'one in a window') foreach 1 .. $#at;
	cmp_ok(max_wal_size($node), '>=', $need, 'what it needs is reached');
	cmp_ok(max_wal_size($node), '<=', 1.5 * $need, sprintf 'and not left behind: %.2f x the need', max_wal_size($node) / $need);
};

subtest 'the next such statement forces nothing and raises nothing' => sub {
	my $since = time;
	finish_load(start_statement(TIMEOUT + 5));
	is(scalar(forced($node, $since)), 0, 'no forced checkpoint');
	is(scalar(grows($node)), scalar(@grows), 'no further raise') or diag explain([ grows($node) ]);
};

done_testing();
