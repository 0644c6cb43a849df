
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# First two whole windows while somebody else reloads the configuration five times a second: they keep their length and
# lose nothing. Then, on the same server, everything that can happen to counters, worker and server: decisions and
# windows survive it and no false decision follows.

use strict;
use warnings;

use List::Util qw(sum0);
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant TIMEOUT => 30;    # checkpoint_timeout, and so the length of a window
use constant RATE    => 1.5;   # MB/s, steady

my $node = new_node('main', { max_wal_size => '64MB', min_wal_size => '64MB' });
start_node($node);

# A raise, so that there is a decision to keep. The DBA's own raise after it makes the rest a quiet time.
finish_load(start_wal($node, rate => 30, seconds => 4));
eventually('a raise', sub { grows($node) });
value($node, q{ALTER SYSTEM SET max_wal_size = '1GB'});
$node->reload;
eventually('the raise by hand', sub { value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'}) });

sub windows
{
	return rows($node, <<'SQL');
SELECT *, extract(epoch FROM window_start) AS starts, extract(epoch FROM window_end) AS ends
  FROM walsizer.windows ORDER BY window_start
SQL
}

subtest 'reloads every 200 ms by somebody else' => sub {
	my $storm = start_load($node, "SELECT pg_reload_conf();\n\\sleep 200 ms\n", -T => 600);
	my $wal   = start_wal($node, rate => RATE, seconds => 600);
	my $began = time;

	my ($stat_before, $lsn_before) = (row($node, 'SELECT * FROM walsizer.stat'), now_lsn($node));
	my $asked = 0;
	my @whole = eventually(
		'two whole windows under the storm',
		sub {
			# One CHECKPOINT now and then: none may get lost between the reloads.
			if (time - $began > 5 * ($asked + 1))
			{
				value($node, 'CHECKPOINT');
				$asked++;
			}
			my @w = grep { $_->{starts} >= $began } windows();
			return @w >= 2 && [ @w[ 0, 1 ] ];
		},
		3 * TIMEOUT + 15)->@*;
	look($node);
	my ($stat_after, $lsn_after) = (row($node, 'SELECT * FROM walsizer.stat'), now_lsn($node));
	$_->{run}->kill_kill(grace => 1) foreach $storm, $wal;
	$_->{run} = undef foreach $storm, $wal;

	foreach my $w (@whole)
	{
		my $length = $w->{ends} - $w->{starts};
		cmp_ok(abs($length - TIMEOUT), '<', 1.5, sprintf('a window of %.2f s', $length));
		cmp_ok(abs($w->{wal_bytes} / (RATE * TIMEOUT * MB) - 1), '<', 0.1,
			sprintf('with %.1f MB of WAL, written %.1f', $w->{wal_bytes} / MB, RATE * TIMEOUT));
		# Between the first and the last moment of the window at the earliest and latest they can have been noticed.
		my $in_log = requested($node, $w->{starts}, $w->{ends});
		cmp_ok(abs($w->{num_requested} - $in_log), '<=', 1, "and $w->{num_requested} requested checkpoints, the log has $in_log");
		is($w->{num_wal_forced}, 0, 'none of them forced');
	}
	cmp_ok(abs($whole[1]{starts} - $whole[0]{ends}), '<', 0.001, 'the second begins where the first ends');

	is($stat_after->{num_requested} - $stat_before->{num_requested}, $asked, "$asked CHECKPOINT commands, all counted");
	my ($counted, $written) =
	  ($stat_after->{wal_bytes} - $stat_before->{wal_bytes}, value($node, "SELECT '$lsn_after'::pg_lsn - '$lsn_before'"));
	# A look is a second at most.
	cmp_ok(abs($counted - $written), '<', 3 * RATE * MB, sprintf('%.1f MB of WAL counted, %.1f written', $counted / MB, $written / MB));
};

my ($decisions, @windows);

# Remembers what there is.
sub remember
{
	$decisions = decision_ids($node);
	@windows   = map { $_->{starts} } windows();
	return;
}

# What was there before is there still, and nothing new was decided, not even when asked to judge now.
sub nothing_changed
{
	my ($what) = @_;
	look($node);
	value($node, 'SELECT walsizer.evaluate()');
	look($node);
	my $now = decision_ids($node);
	# A 'hold' that evaluate() itself leaves behind is an answer, no action.
	$now =~ s/(?:, )?\d+ hold//g;
	(my $before = $decisions) =~ s/(?:, )?\d+ hold//g;
	is($now, $before, "$what: the decisions survive, none is added");
	my %there = map { $_->{starts} => 1 } windows();
	is(scalar(grep { !$there{$_} } @windows), 0, "$what: all " . @windows . ' windows survive');
	is(max_wal_size($node), 1024 * MB, "$what: max_wal_size is what it was");
	is(scalar(grep { $_->{num_timed} < 0 || $_->{num_requested} < 0 || $_->{wal_bytes} < 0 } windows()), 0,
		"$what: no count fell below zero");
	return;
}

sub worker_pid
{
	return value($node, q{SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE backend_type ~ 'walsizer'});
}

cmp_ok(scalar(windows()), '>=', 2, 'there are windows to keep');

subtest 'pg_stat_reset_shared' => sub {
	remember();
	my $before = row($node, 'SELECT * FROM walsizer.stat');
	reset_checkpointer_counts($node);
	nothing_changed('after the reset');
	my $after = row($node, 'SELECT * FROM walsizer.stat');
	cmp_ok($after->{$_}, '>=', $before->{$_}, "$_ did not fall") foreach qw(num_timed num_requested num_wal_forced wal_bytes);
	value($node, 'CHECKPOINT');
	ok( eventually('the CHECKPOINT', sub { value($node, 'SELECT num_requested FROM walsizer.stat') > $after->{num_requested} }),
		'the next request is counted');
};

subtest 'pg_terminate_backend of the worker' => sub {
	remember();
	my $pid = worker_pid();
	value($node, "SELECT pg_terminate_backend($pid)");
	eventually('another worker', sub { my $p = worker_pid(); $p && $p != $pid });
	nothing_changed('after the end of the worker');
};

subtest 'an immediate shutdown and crash recovery' => sub {
	remember();
	# WAL to recover, more than the old trigger of 64MB.
	finish_load(start_wal($node, rate => 60, seconds => 2));
	my $offset = log_size($node);
	$node->stop('immediate');
	start_node($node);
	is(scalar(log_lines($node, $offset, qr/redo done at/)), 1, 'the server recovered');
	nothing_changed('after the crash');
};

subtest 'kill -9 of the worker, and so a crash restart of the server' => sub {
	remember();
	finish_load(start_wal($node, rate => 60, seconds => 2));
	my $offset = log_size($node);
	my $pid    = worker_pid();
	kill 9, $pid;
	eventually('a server again', sub { log_lines($node, $offset, qr/redo done at/) && $node->psql('postgres', 'SELECT 1') == 0 });
	eventually('another worker', sub { my $p = worker_pid(); $p && $p != $pid });
	nothing_changed('after the kill');
	value($node, 'CHECKPOINT');
	look($node);
	is(value($node, q{SELECT count(*) FROM walsizer.checkpoints WHERE cause IN ('wal', 'stale') AND extract(epoch FROM started_at) > } . $windows[-1]),
		0, 'the recovery\'s own checkpoint does not count as forced');
};

subtest 'and it is still a tuner' => sub {
	my $before = grows($node);
	value($node, q{ALTER SYSTEM SET max_wal_size = '1040MB'});
	$node->reload;
	look($node);
	my $load = start_wal($node, rate => 120, seconds => 12);
	eventually('a raise', sub { grows($node) > $before });
	finish_load($load);
	cmp_ok(max_wal_size($node), '>', 1040 * MB, 'the next load raises max_wal_size');
	my $ids = value($node, 'SELECT count(*) = count(DISTINCT id) FROM walsizer.decisions');
	is($ids, 't', 'no decision number was given twice');
};

done_testing();
