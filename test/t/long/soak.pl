
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Ten minutes of mixed load: transactions, schema changes, checkpoints by command, reloads, monitoring, undo and resume.
# The worker's memory stays what it was after the first minute, and its CPU time stays small.
#
# About 11 minutes. WALSIZER_TEST_SOAK_SECONDS shortens it (not below 120).

use strict;
use warnings;

use List::Util qw(max min);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerDamage;
use WalsizerTest;

use constant WARM_UP => 60;
# Memory: malloc's own grain. CPU: the target is 0.1 % of a core; a busy machine makes the same work dearer.
use constant MEMORY_KB => 256;
use constant CPU_SHARE => 0.005;

my $seconds = $ENV{WALSIZER_TEST_SOAK_SECONDS} // 600;

plan skip_all => 'needs /proc' if !-r '/proc/self/schedstat' || slurp_file('/proc/self/status') !~ /^RssAnon:/m;

my $node = new_node(
	'soak',
	{
		max_wal_size           => '64MB',
		shared_buffers         => '128MB',
		checkpoint_timeout     => '30s',
		autovacuum             => 'on',
		'walsizer.history_size' => 100
	});
start_node($node);
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '5', '-p', $node->port, 'postgres' ], 'pgbench -i');

my $pid = status($node)->{worker_pid};

sub memory_kb
{
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^RssAnon:\s*(\d+) kB/m;
	return $kb;
}

sub cpu_seconds
{
	return (split ' ', slurp_file("/proc/$pid/schedstat"))[0] / 1e9;
}

my @mix = (
	[ undef, '-c', 4, '-R', 300 ],
	[ "CREATE TABLE t (a int);\nINSERT INTO t SELECT generate_series(1, 20000);\nCREATE INDEX ON t (a);\nDROP TABLE t;\n\\sleep 500 ms\n" ],
	[ "CHECKPOINT;\n\\sleep 17 s\n" ],
	[ "SELECT pg_reload_conf();\n\\sleep 3 s\n" ],
	[ "CREATE DATABASE shortlived;\nDROP DATABASE shortlived;\n\\sleep 23 s\n" ],
	[ "SELECT * FROM walsizer.status;\nSELECT count(*) FROM walsizer.decisions;\nSELECT count(*) FROM walsizer.windows;\nSELECT walsizer.evaluate();\n\\sleep 2 s\n" ]);
my @loads = map { my ($script, @options) = @$_; start_load($node, $script, @options, -T => $seconds + 60) } @mix;
# A change of each kind, again and again: down to the start, and up with the load. undo() is refused while there is
# nothing to undo, which would end pgbench: these come from here.
my $began = time;
my (@memory, $cpu_warm, $warm_at);
my $next_undo = time + 20;
eventually(
	"$seconds seconds",
	sub {
		my $elapsed = time - $began;
		die "the worker is another one\n" if !-e "/proc/$pid";
		if ($elapsed >= WARM_UP)
		{
			push @memory, memory_kb();
			($cpu_warm, $warm_at) = (cpu_seconds(), time) if !defined $cpu_warm;
		}
		if (time > $next_undo)
		{
			$node->psql('postgres', 'SELECT walsizer.undo()');
			$node->psql('postgres', 'SELECT walsizer.resume()');
			$next_undo = time + 20;
		}
		return $elapsed >= $seconds;
	},
	$seconds + 60);
my $share = (cpu_seconds() - $cpu_warm) / (time - $warm_at);
is(status($node)->{worker_pid}, $pid, 'one worker all the time');
my ($least, $most) = (min(@memory), max(@memory));
cmp_ok($most - $least, '<=', MEMORY_KB, "anonymous memory after the first minute: $least to $most kB, " . @memory . ' samples');
cmp_ok($share, '<', CPU_SHARE, sprintf('CPU: %.3f %% of a core (target 0.1 %%)', 100 * $share));
my $stat = row($node, 'SELECT * FROM walsizer.stat');
note(join ', ', map { "$_ $stat->{$_}" } sort keys %$stat);
cmp_ok($stat->{num_raised},  '>=', 3, "$stat->{num_raised} raises");
cmp_ok($stat->{num_lowered}, '>=', 2, "$stat->{num_lowered} times undone");
is($stat->{num_failed}, 0, 'no change failed');
cmp_ok(value($node, 'SELECT count(*) FROM walsizer.windows'), '<=', 100, 'the journal keeps its size');
stop_load($_) foreach @loads;
is(scalar(log_lines($node, 0, qr/PANIC|walsizer could not|reinitializing/)), 0, 'nothing went wrong');

done_testing();
