
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Starts that are no normal operation: single-user mode, bootstrap, --check, -C, binary upgrade. None of them starts the
# worker, writes the history, or changes max_wal_size.

use strict;
use warnings;

use File::Find ();
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerDamage;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '300s' });
my $data = $node->data_dir;

# Everything of walsizer's in the data directory, and the line it would write.
sub traces
{
	my @found;
	File::Find::find(sub { push @found, $File::Find::name if /walsizer/ }, $data);
	return (@found, auto_conf($node));
}

sub leaves_nothing
{
	my ($what) = @_;
	is(join('', traces()), '', "$what: no history, no line in postgresql.auto.conf");
	return;
}

leaves_nothing('initdb');

subtest '-C' => sub {
	# The second one is computed: for it the libraries are loaded and asked for their shared memory.
	my %answer;
	foreach my $name ('max_wal_size', $node->pg_version >= 15 ? 'shared_memory_size' : ())
	{
		my ($out, $err) = run_command([ 'postgres', '-D', $data, '-C', $name ]);
		like($out, qr/^\d+$/, "-C $name: $out");
		unlike($err, qr/walsizer|ERROR|FATAL/, "-C $name: nothing said");
	}
	leaves_nothing('-C');
};

subtest '--check and bootstrap' => sub {
	my @preload = ('-c', 'shared_preload_libraries=walsizer');
	my ($out, $err) = run_command([ 'postgres', $node->pg_version >= 15 ? '--check' : '--describe-config', '-D', $data, @preload ]);
	unlike($err, qr/walsizer|ERROR|FATAL|PANIC/, 'nothing said');
	leaves_nothing('--check');
  SKIP:
	{
		skip 'initdb -c needs PostgreSQL 16', 1 if $node->pg_version < 16;
		my $other = PostgreSQL::Test::Utils::tempdir . '/new';
		command_ok([ 'initdb', '-N', '-A', 'trust', '-D', $other, '-c', 'shared_preload_libraries=walsizer' ], 'initdb with the library');
		is(join('', glob("$other/pg_stat/walsizer*")), '', 'no history');
	}
};

subtest 'single-user mode' => sub {
	# Up to 14 it does not preload libraries at all.
	my $preloads = $node->pg_version >= 15;
	# Enough WAL to force checkpoints at 64MB, were somebody there to do it.
	my $sql = join "\n", (map { q{SELECT pg_logical_emit_message(false, '', repeat('x', 10000000)) IS NOT NULL AS written} } 1 .. 10),
	  'SHOW max_wal_size', ($preloads ? 'SHOW walsizer.max' : ()), '';
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ 'postgres', '--single', '-D', $data, '-c', 'shared_preload_libraries=walsizer', 'postgres' ], '<', \$sql, '>', \$out, '2>', \$err);
	ok($ok, 'it starts and ends');
	like($out, qr/max_wal_size = "64MB"/, 'max_wal_size is what it was');
	like($out, qr/walsizer\.max = /, 'the library is loaded') if $preloads;
	is(() = $out =~ /written = "t"/g, 10, 'the WAL was written');
	unlike($err, qr/walsizer|ERROR|FATAL|PANIC/, 'nothing said') or diag($err);
	leaves_nothing('single-user mode');
};

subtest 'binary upgrade' => sub {
	my $offset = log_size($node);
	system_or_bail('pg_ctl', '-w', '-D', $data, '-l', $node->logfile, '-o', '-b', 'start');
	my $ok = eval {
		$node->_update_pid(1);
		my $lsn = now_lsn($node);
		value($node, q{SELECT pg_logical_emit_message(false, '', repeat('x', 10000000))}) for 1 .. 15;
		cmp_ok(wal_written($node, $lsn), '>', 140 * MB, 'WAL was written');
		ok(soon(sub { forced($node) }), 'it forced a checkpoint: nobody raised anything');
		is(value($node, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'walsizer'}), 0, 'no worker');
		is(max_wal_size($node), 64 * MB, 'max_wal_size is what it was');
		1;
	};
	my $error = $@;
	$node->stop;
	die $error if !$ok;
	is(scalar(log_lines($node, $offset, qr/walsizer [\d.]+ starts|walsizer raises/)), 0, 'not a word of the worker in the log');
	leaves_nothing('binary upgrade');
};

subtest 'and then a normal start' => sub {
	start_node($node);
	my $load = start_wal($node, rate => 30, seconds => 60);
	ok(soon(sub { max_wal_size($node) > 64 * MB }), 'raises');
	stop_load($load);
	cmp_ok(scalar(grep { $_ } traces()), '>=', 2, 'and leaves its traces');
	$node->stop;
};

done_testing();
