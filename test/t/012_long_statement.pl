
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A statement that is already running keeps the trigger it started with: after a raise in its middle it goes on forcing
# checkpoints at the old distance. Those come out "stale" and are no reason to raise again; counting them once more
# is how a tuner runs away to its ceiling.
#
# WALSIZER_TEST_STATEMENT_SECONDS: how long the statement runs (long/long_statement.pl lets it run 20 s).

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

my $seconds = $ENV{WALSIZER_TEST_STATEMENT_SECONDS} // 12;

# No pacing: every checkpoint is over at once, so that each forced one shows. And the statement itself must finish the
# WAL segments, not the WAL writer: that one hears of a reload at once, and whoever finishes a segment asks.
my %settings = (
	max_wal_size                 => '64MB',
	checkpoint_completion_target => '0.01',
	checkpoint_timeout           => '300s',
	wal_buffers                  => '64kB',
	wal_writer_delay             => '10s');

# 64MB at this target: three segments.
use constant OLD_TRIGGER => 48 * MB;

# One INSERT that writes 40 MB/s for that long (if the machine can). Most of it are messages and not rows, so that a
# checkpoint has little to write and is over long before the next one: what is forced later is forced at the old distance.
sub start_insert
{
	my ($node) = @_;
	value($node, 'CREATE TABLE big (payload text, lsn pg_lsn)');
	my $batches = $seconds * 20;
	return start_load($node, <<"SQL", -t => 1);
INSERT INTO big SELECT repeat('x', 1000), pg_logical_emit_message(false, 'load', repeat('x', 20000)) FROM (WITH RECURSIVE batch(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM batch WHERE n < $batches AND pg_sleep(0.045 + 0 * n) IS NOT NULL) SELECT n FROM batch) b, LATERAL generate_series(1, 100 + 0 * n);
SQL
}

my %server = map { $_ => new_node($_, \%settings) } qw(by_hand by_threshold by_sight);
$server{by_threshold}->append_conf('postgresql.conf', "walsizer.anticipate = off\nwalsizer.threshold = 2");
# Deaf until somebody raises by hand, wide awake from then on.
$server{by_hand}->append_conf('postgresql.conf',
	"walsizer.anticipate = off\nwalsizer.threshold = 1000\nwalsizer.target_ratio = 1");
start_node($_) for values %server;
my %load = map { $_ => start_insert($server{$_}) } keys %server;

# What was forced later than a second after a raise, and the stale ones among them. The first of them may end a cycle
# that began before the raise; by the rule of the smallest trigger in that cycle it is an ordinary forced one.
sub went_stale
{
	my ($node, $raised) = @_;
	my @later = forced($node, $raised + 1);
	cmp_ok(scalar(@later), '>=', 2, 'the statement forced ' . @later . ' more checkpoints at its old distance');
	is(scalar(grep { ($_->{distance} // 0) > 2 * OLD_TRIGGER } @later), 0, 'none of them near the new trigger');
	my $stale = sub { value($node, q{SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints WHERE cause = 'stale'}) };
	soon(sub { $stale->() >= @later - 1 });
	cmp_ok($stale->(), '>=', @later - 1, 'they came out stale');
	is(value($node, 'SELECT num_stale FROM walsizer.stat'), $stale->(), 'walsizer.stat counts them');
	cmp_ok(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), '<=', forced($node, 0, $raised + 1) + 1, 'and not as forced');
	return;
}

# By hand as soon as two were forced; the others raise by themselves.
my $node = $server{by_hand};
eventually('two forced checkpoints', sub { forced($node) >= 2 });
$node->append_conf('postgresql.conf', "walsizer.anticipate = on\nwalsizer.threshold = 2\nwalsizer.target_ratio = 0.1");
value($node, q{ALTER SYSTEM SET max_wal_size = '1GB'});
my %raised = (by_hand => time);
$node->reload;
foreach my $name (qw(by_threshold by_sight))
{
	eventually("a raise ($name)", sub { grows($server{$name}) });
	$raised{$name} = value($server{$name}, q{SELECT extract(epoch FROM min(decided_at)) FROM walsizer.decisions WHERE action = 'grow'});
}
finish_load($_) foreach values %load;

subtest 'raised by hand in the middle' => sub {
	went_stale($server{by_hand}, $raised{by_hand});
	is(scalar(grows($server{by_hand})), 0, 'no raise on top of the one by hand') or diag(explain([ grows($server{by_hand}) ]));
	is(max_wal_size($server{by_hand}), 1024 * MB, 'which still holds');
};

subtest 'raised by walsizer in the middle, anticipate off' => sub {
	went_stale($server{by_threshold}, $raised{by_threshold});
	is(scalar(grows($server{by_threshold})), 1, 'no second raise') or diag(explain([ grows($server{by_threshold}) ]));
};

subtest 'raised by walsizer in the middle, anticipate on' => sub {
	went_stale($server{by_sight}, $raised{by_sight});
	is(scalar(grows($server{by_sight})), 1, 'no second raise') or diag(explain([ grows($server{by_sight}) ]));
};

# The next statement starts with the new trigger.
subtest 'the next statement forces none' => sub {
	my $since = time;
	finish_load(start_wal($server{by_hand}, rate => 60, seconds => 3));
	is(scalar(forced($server{by_hand}, $since)), 0, '180 MB without a forced checkpoint');
};

done_testing();
