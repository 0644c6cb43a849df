
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Up to PostgreSQL 14 a process without a database that asks for statistics reads those of every table of every database,
# after the collector has written its files. So walsizer must not ask at each look: three times after a redo move, then once
# a checkpoint_timeout. 20,000 tables; the worker's and the collector's own I/O counts are the witnesses.

use strict;
use warnings;

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

my ($major) = `pg_config --version` =~ /PostgreSQL (\d+)/;
plan skip_all => "PostgreSQL $major keeps its statistics in shared memory: a look reads no file" if $major >= 15;

use constant DATABASES => 4;
use constant TABLES    => 20_000;
# The shortest period in which one reading a second is far from what is allowed.
use constant PERIOD => 20;
# Readings after a redo move, and one that may fall into any period.
use constant PER_MOVE => 3;
use constant REST     => 1;

my $node = new_node('main', { checkpoint_timeout => '300s', 'walsizer.disk_reserve' => 0 });
start_node($node);

foreach my $i (1 .. DATABASES)
{
	value($node, "CREATE DATABASE d$i");
	# One transaction each, for the lock table's sake.
	my $each = TABLES / DATABASES;
	$node->safe_psql("d$i", qq{SELECT format('CREATE TABLE t%s AS SELECT 1 AS x', i) FROM generate_series(1, $each) i \\gexec\n});
}

# What a monitoring agent does: now the collector has written every database's file, and whoever reads all reads much.
sub statistics_size
{
	my $size = 0;
	foreach my $i (1 .. DATABASES)
	{
		$node->safe_psql("d$i", 'SELECT sum(n_tup_ins) FROM pg_stat_user_tables');
	}
	$size += -s $_ // 0 foreach glob($node->data_dir . '/pg_stat_tmp/db_*.stat');
	return $size;
}
my $all = 0;
# The collector hears of a session's last transactions when it ends, by datagrams.
soon(sub { ($all = statistics_size()) > TABLES * 100 });
cmp_ok($all, '>', TABLES * 75, sprintf('statistics of %d tables: %.1f MB', TABLES, $all / MB));

my ($collector) = grep { slurp_file("/proc/$_/cmdline") =~ /stats collector/ } children($node);
ok($collector, 'the collector');

sub children
{
	my ($of) = @_;
	my ($postmaster) = slurp_file($of->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	return grep { (eval { slurp_file("/proc/$_/stat") } // '') =~ /\) \S $postmaster / } map { m{/(\d+)$} } glob('/proc/[0-9]*');
}

# Bytes that a process asked of files, or gave to them, and its CPU time in seconds.
sub used
{
	my ($pid) = @_;
	my %io = slurp_file("/proc/$pid/io") =~ /^(\w+): (\d+)$/mg;
	my @stat = split / /, slurp_file("/proc/$pid/stat") =~ s/.*\) //sr;
	my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
	return { %io, cpu => ($stat[11] + $stat[12]) / $ticks };
}

sub period
{
	my ($what, $at_once) = @_;
	my $worker = status($node)->{worker_pid};
	my $small  = (-s $node->data_dir . '/pg_stat_tmp/global.stat') + (-s $node->data_dir . '/pg_stat_tmp/db_0.stat');
	my $moves  = value($node, 'SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints');
	my @before = (used($worker), used($collector));
	my $began  = time;
	value($node, $at_once) if $at_once;
	soon(sub { time > $began + PERIOD }, PERIOD + 1);
	my $seconds = time - $began;
	my @after   = (used($worker), used($collector));
	$moves = value($node, 'SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints') - $moves;

	my $reads   = ($after[0]{rchar} - $before[0]{rchar}) / $all;
	my $writes  = ($after[1]{wchar} - $before[1]{wchar}) / $small;
	my $allowed = PER_MOVE * $moves + REST;
	# What makes the test one: looks come once a second at least, and that many readings would fail it.
	cmp_ok($allowed, '<', $seconds * 0.75, sprintf('%s: %d redo moves in %.0f s', $what, $moves, $seconds));
	cmp_ok($reads, '<=', $allowed + 0.5, sprintf('%s: the worker read all statistics %.1f times', $what, $reads));
	# A reading asks up to twice: the first file may have been written just before the question.
	cmp_ok($writes, '<=', 2 * $allowed + 1, sprintf('%s: the collector wrote its files %.1f times', $what, $writes));
	note(sprintf('%s: worker %.2f s of CPU, collector %.2f s, in %.0f s', $what, $after[0]{cpu} - $before[0]{cpu},
		$after[1]{cpu} - $before[1]{cpu}, $seconds));
	return;
}

# Readings after the last redo move are over.
value($node, 'CHECKPOINT');
eventually('the early readings',
	sub { value($node, q{SELECT max(started_at) < now() - interval '7 s' FROM walsizer.checkpoints}) eq 't' });
look($node);
period('idle');

# Looks come up to 20 times a second now, and redo moves.
my $load = start_wal($node, rate => 20, seconds => 300);
eventually('a raise', sub { grows($node) > 0 });
period('under load', 'CHECKPOINT');
stop_load($load);
look($node);
cmp_ok(scalar(grows($node)), '>', 0, 'and its figures were enough to raise ' . grows($node) . ' times');

done_testing();
