
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

my $seconds = $ENV{WALSIZER_TEST_STATEMENT_SECONDS} // 9;

# No pacing: every checkpoint is over at once, so that each forced one shows.
my %settings = (max_wal_size => '64MB', checkpoint_completion_target => '0.01', checkpoint_timeout => '300s');

# 64MB at this target: three segments.
use constant OLD_TRIGGER => 48 * MB;

# One INSERT that writes about 40 MB/s for that long, whatever the machine (if it can at all).
sub start_insert
{
	my ($node) = @_;
	value($node, 'CREATE TABLE big (payload text)');
	my $batches = $seconds * 20;
	return start_load($node, <<"SQL", -t => 1);
INSERT INTO big SELECT repeat('x', 1000) FROM (WITH RECURSIVE batch(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM batch WHERE n < $batches AND pg_sleep(0.04 + 0 * n) IS NOT NULL) SELECT n FROM batch) b, LATERAL generate_series(1, 2000 + 0 * n);
SQL
}

my %server = map { $_ => new_node($_, \%settings) } qw(by_hand by_threshold by_sight);
$server{by_threshold}->append_conf('postgresql.conf', "walsizer.anticipate = off\nwalsizer.threshold = 2");
# Deaf until somebody raises by hand, wide awake from then on.
$server{by_hand}->append_conf('postgresql.conf',
	"walsizer.anticipate = off\nwalsizer.threshold = 1000\nwalsizer.target_ratio = 1");
start_node($_) for values %server;

subtest 'raised by hand in the middle' => sub {
	my $node = $server{by_hand};
	my $load = start_insert($node);
	eventually('two forced checkpoints', sub { forced($node) >= 2 });
	value($node, q{ALTER SYSTEM SET max_wal_size = '2GB'});
	value($node, "ALTER SYSTEM RESET walsizer.$_") for qw(anticipate threshold target_ratio);
	$node->append_conf('postgresql.conf', "walsizer.anticipate = on\nwalsizer.threshold = 2\nwalsizer.target_ratio = 0.1");
	my $raised = time;
	$node->reload;
	look($node);
	finish_load($load);

	# The first one after the raise may have been asked for before it.
	my @later = forced($node, $raised + 1);
	cmp_ok(scalar(@later), '>=', 2, 'the statement forced ' . @later . ' more checkpoints at its old distance');
	is(scalar(grep { ($_->{distance} // 0) > 2 * OLD_TRIGGER } @later), 0, 'all of them far below the new trigger');
	eventually('the stale ones', sub { value($node, q{SELECT num_stale FROM walsizer.stat}) >= @later }, 15);
	cmp_ok(value($node, q{SELECT sum(count) FROM walsizer.checkpoints WHERE cause = 'stale'}),
		'>=', scalar(@later), 'they came out stale');
	cmp_ok(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), '<=', forced($node, 0, $raised + 1), 'and not as forced');
	is(scalar(grows($node)), 0, 'no raise on top of the one by hand');
	is(max_wal_size($node), 2048 * MB, 'which still holds');
};

subtest 'raised by walsizer in the middle, anticipate off' => sub {
	my $node = $server{by_threshold};
	my $load = start_insert($node);
	my @grows = eventually('a raise', sub { my @g = grows($node); @g ? \@g : undef })->@*;
	my $raised = time;
	finish_load($load);

	my @later = forced($node, $raised + 1);
	cmp_ok(scalar(@later), '>=', 2, 'the statement forced ' . @later . ' more checkpoints');
	eventually('the stale ones', sub { value($node, q{SELECT num_stale FROM walsizer.stat}) >= @later - 1 }, 15);
	cmp_ok(value($node, 'SELECT num_stale FROM walsizer.stat'), '>=', @later - 1, 'they came out stale');
	is(scalar(grows($node)), 1, 'no second raise') or diag(explain([ grows($node) ]));
};

subtest 'raised by walsizer in the middle, anticipate on' => sub {
	my $node = $server{by_sight};
	my $load = start_insert($node);
	eventually('a raise', sub { grows($node) });
	my $raised = time;
	finish_load($load);

	my @later = forced($node, $raised + 1);
	cmp_ok(scalar(@later), '>=', 2, 'the statement forced ' . @later . ' more checkpoints');
	eventually('the stale ones', sub { value($node, q{SELECT num_stale FROM walsizer.stat}) >= @later - 1 }, 15);
	my @grows = grows($node);
	is(scalar(@grows), 1, 'no second raise') or diag(explain(\@grows));
};

# The next statement starts with the new trigger.
subtest 'the next statement forces none' => sub {
	my $node  = $server{by_hand};
	my $since = time;
	finish_load(start_wal($node, rate => 60, seconds => 3));
	is(scalar(forced($node, $since)), 0, '180 MB without a forced checkpoint');
};

done_testing();
