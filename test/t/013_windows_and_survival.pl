
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Two servers at the same time, because whole windows take their time. On one somebody else reloads the configuration
# five times a second: its windows keep their length and lose nothing. On the other happens everything that can happen to
# counters, worker and server: decisions and windows survive it, and no false decision follows.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant TIMEOUT => 30;    # checkpoint_timeout, and so the length of a window
use constant RATE    => 1.5;   # MB/s, steady
# The longest time between two looks, and a little for a busy machine.
use constant LOOK => 1.5;

sub windows
{
	my ($node) = @_;
	return rows($node, <<'SQL');
SELECT *, extract(epoch FROM window_start) AS starts, extract(epoch FROM window_end) AS ends
  FROM walsizer.windows ORDER BY window_start
SQL
}

# The reloads, with a CHECKPOINT now and then of which none may get lost, and a steady flow of WAL.
my $stormy = start_node(new_node('stormy', { max_wal_size => '1GB' }));
my ($stat_before, $lsn_before, $storm_began) = (row($stormy, 'SELECT * FROM walsizer.stat'), now_lsn($stormy), time);
my @storm = (
	start_load($stormy, "SELECT pg_reload_conf();\n\\sleep 200 ms\n", -T => 600),
	start_load($stormy, "CHECKPOINT;\n\\sleep 5 s\n", -T => 600),
	start_wal($stormy, rate => RATE, seconds => 600));

# The other server gets a raise, so that there is a decision to keep, and room for the rest of the test by hand.
my $hurt = start_node(new_node('hurt', { max_wal_size => '64MB' }));
finish_load(start_wal($hurt, rate => 30, seconds => 3));
eventually('a raise', sub { grows($hurt) });
value($hurt, q{ALTER SYSTEM SET max_wal_size = '512MB'});
$hurt->reload;
eventually('the raise by hand', sub { value($hurt, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'}) });
eventually('a window to keep', sub { windows($hurt) }, TIMEOUT + 10);

my ($decisions, @windows, $remembered_at);

# Remembers what there is.
sub remember
{
	$decisions     = decision_ids($hurt);
	@windows       = map { $_->{starts} } windows($hurt);
	$remembered_at = time;
	return;
}

# What was there before is there still, and nothing new was decided, not even when asked to judge now.
sub nothing_changed
{
	my ($what) = @_;
	look($hurt);
	$hurt->psql('postgres', 'SELECT walsizer.evaluate()');
	look($hurt);
	# A 'hold' that evaluate() leaves behind is an answer, no action.
	my ($before, $now) = map { s/(?:, )?\d+ hold//gr } $decisions, decision_ids($hurt);
	is($now, $before, "$what: the decisions survive, none is added");
	my %there = map { $_->{starts} => 1 } windows($hurt);
	is(scalar(grep { !$there{$_} } @windows), 0, "$what: all " . @windows . ' windows survive');
	is(max_wal_size($hurt), 512 * MB, "$what: max_wal_size is what it was");
	is(scalar(grep { $_->{num_timed} < 0 || $_->{num_requested} < 0 || $_->{wal_bytes} < 0 } windows($hurt)), 0,
		"$what: no count fell below zero");
	is( value($hurt, q{SELECT count(*) FROM walsizer.checkpoints WHERE cause IN ('wal', 'stale') AND extract(epoch FROM started_at) > } . $remembered_at),
		0, "$what: no checkpoint counts as forced");
	return;
}

sub worker_pid
{
	return value($hurt, q{SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE backend_type ~ 'walsizer'});
}

subtest 'pg_stat_reset_shared' => sub {
	remember();
	my $before = row($hurt, 'SELECT * FROM walsizer.stat');
	reset_checkpointer_counts($hurt);
	nothing_changed('after the reset');
	my $after = row($hurt, 'SELECT * FROM walsizer.stat');
	cmp_ok($after->{$_}, '>=', $before->{$_}, "$_ did not fall") foreach qw(num_timed num_requested num_wal_forced wal_bytes);
	value($hurt, 'CHECKPOINT');
	ok(soon(sub { value($hurt, 'SELECT num_requested FROM walsizer.stat') > $after->{num_requested} }), 'the next request is counted');
};

subtest 'pg_terminate_backend of the worker' => sub {
	remember();
	my $pid = worker_pid();
	value($hurt, "SELECT pg_terminate_backend($pid)");
	eventually('another worker', sub { my $p = worker_pid(); $p && $p != $pid });
	nothing_changed('after the end of the worker');
};

# In both cases the server writes a checkpoint of its own when it has recovered, 60 MB of WAL after the one before: more
# than the trigger of the old 64MB allows.
subtest 'an immediate shutdown and crash recovery' => sub {
	remember();
	finish_load(start_wal($hurt, rate => 60, seconds => 1));
	my $offset = log_size($hurt);
	$hurt->stop('immediate');
	start_node($hurt);
	is(scalar(log_lines($hurt, $offset, qr/redo done at/)), 1, 'the server recovered');
	nothing_changed('after the crash');
};

subtest 'kill -9 of the worker, and so a crash restart of the server' => sub {
	remember();
	finish_load(start_wal($hurt, rate => 60, seconds => 1));
	my $offset = log_size($hurt);
	my $pid    = worker_pid();
	kill 9, $pid;
	eventually('a server again', sub { log_lines($hurt, $offset, qr/redo done at/) && $hurt->psql('postgres', 'SELECT 1') == 0 });
	eventually('another worker', sub { my $p = worker_pid(); $p && $p != $pid });
	nothing_changed('after the kill');
};

subtest 'and it is still a tuner' => sub {
	my $before = grows($hurt);
	my $load = start_wal($hurt, rate => 120, seconds => 30);
	ok(soon(sub { grows($hurt) > $before && max_wal_size($hurt) > 512 * MB }, 30), 'the next load raises max_wal_size');
	stop_load($load);
	is(value($hurt, 'SELECT count(*) = count(DISTINCT id) FROM walsizer.decisions'), 't', 'no decision number was given twice');
	$hurt->stop;
};

subtest 'reloads every 200 ms by somebody else' => sub {
	my @whole = eventually('two whole windows', sub { my @w = windows($stormy); @w >= 2 && \@w }, 3 * TIMEOUT)->@*;
	look($stormy);
	my ($stat_after, $lsn_after) = (row($stormy, 'SELECT * FROM walsizer.stat'), now_lsn($stormy));
	my $reloads = log_lines($stormy, 0, qr/received SIGHUP/);
	my $asked   = requested($stormy, $storm_began);
	stop_load($_) foreach @storm;
	cmp_ok($reloads, '>', 3 * 2 * TIMEOUT, "the log knows of $reloads reloads");

	foreach my $w (@whole[ 0, 1 ])
	{
		my $length = $w->{ends} - $w->{starts};
		cmp_ok(abs($length - TIMEOUT), '<', LOOK, sprintf('a window of %.2f s', $length));
		my $in_log = requested($stormy, $w->{starts}, $w->{ends});
		cmp_ok(abs($w->{num_requested} - $in_log), '<=', 1, "with $w->{num_requested} requested checkpoints, the log has $in_log");
		is($w->{num_wal_forced}, 0, 'none of them forced');
	}
	cmp_ok(abs($whole[1]{starts} - $whole[0]{ends}), '<', LOOK, 'the second begins where the first ends');
	cmp_ok(abs($whole[1]{wal_bytes} / (RATE * TIMEOUT * MB) - 1), '<', 0.1,
		sprintf('%.1f MB of WAL in the second, written %.1f', $whole[1]{wal_bytes} / MB, RATE * TIMEOUT));

	my $counted = $stat_after->{num_requested} - $stat_before->{num_requested};
	cmp_ok(abs($counted - $asked), '<=', 1, "$counted requests counted in all, the log has $asked");
	my $bytes   = $stat_after->{wal_bytes} - $stat_before->{wal_bytes};
	my $written = value($stormy, "SELECT '$lsn_after'::pg_lsn - '$lsn_before'");
	cmp_ok(abs($bytes - $written), '<', 2 * LOOK * RATE * MB, sprintf('%.1f MB of WAL counted, %.1f written', $bytes / MB, $written / MB));
	is(decision_ids($stormy), '', 'and nothing was decided');
};

done_testing();
