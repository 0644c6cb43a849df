
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# advice() about storage: a long sync phase, and backends that must fsync because the checkpointer is busy with it. The
# storage is slow for one relation's file, by a library that delays the checkpointer's fsync() (lib/slow_storage.c).
# A checkpoint longer than checkpoint_timeout takes minutes: long/advice.pl.

use strict;
use warnings;

use Test::More;
use WalsizerAdvice;
use WalsizerFaults;
use WalsizerTest;

my $library = slow_storage_library() or plan skip_all => 'no C compiler here, which makes the slow storage';

# The checkpointer's queue of fsync requests is as long as shared_buffers has pages: 128.
my $node = new_node(
	'main',
	{
		max_wal_size           => '1GB',
		shared_buffers         => '1MB',
		checkpoint_timeout     => '5min',
		checkpoint_flush_after => 0,
		'walsizer.enable'      => 'off'
	},
	fsync => 1);
start_on_slow_storage($node, $library);

# From 17 on the count of fsyncs contains those of bulk writes, and few are not worth a word. 13 and 14 tell their figures
# after the next checkpoint began, whose own quick sync phase may count, too.
my $tables = $node->pg_version < 17 ? 250 : 2600;
my $late   = $node->pg_version < 15;
value($node, 'CREATE TABLE slow AS SELECT 1 AS i');
value($node, "DO \$\$ BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format('CREATE TABLE t%s (i int)', i); END LOOP; END \$\$");

slow_down($node, 'slow', $late ? 8500 : 5500);
my $load = start_load($node, "UPDATE slow SET i = i + 1;\nCHECKPOINT;\n", -t => 2);

# While the checkpointer waits for storage, nobody takes requests from its queue.
eventually('the sync phase', sub { value($node, q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'DataFileSync'}) });
value($node, "DO \$\$ BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format('INSERT INTO t%s VALUES (1)', i); END LOOP; END \$\$");
finish_load($load);
slow_down($node);
value($node, 'CHECKPOINT') if $late;

subtest 'a long sync phase' => sub {
	my $sync = finding($node, 'checkpoint_sync_time');
	is($sync->{severity}, 'notice', 'severity');
	like($sync->{evidence}, qr/^the sync phase took [5-8]\.\d s on average in [23] checkpoints in the last 0:\d\d \(write phase [\d.]+ s\)$/, 'evidence');
	is($sync->{statement}, q{ALTER SYSTEM SET checkpoint_flush_after = '256kB'}, 'statement');
	value($node, $sync->{statement});
	$node->reload;
	like(soon(sub { my $told = finding($node, 'checkpoint_sync_time')->{statement}; $told =~ /^none/ && $told }), qr/^none: look at .* device/,
		'done that, and no setting is left to try');
};

subtest 'backends that fsync' => sub {
	my $fsyncs = finding($node, 'backend_fsync');
	is($fsyncs->{severity}, 'warning', 'severity');
	like($fsyncs->{evidence}, qr/^\d+ fsyncs by backends in the last 0:\d\d/, 'evidence');
	is($fsyncs->{statement}, q{ALTER SYSTEM SET shared_buffers = '2MB' -- needs a restart}, 'statement');
	value($node, $fsyncs->{statement});
};

# The longest queue, fast storage, the same work again.
subtest 'silent when the storage is fast and the queue long enough' => sub {
	value($node, q{ALTER SYSTEM SET shared_buffers = '64MB'});
	restart_node($node);
	value($node, 'SELECT walsizer.reset()');
	value($node, "DO \$\$ BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format('INSERT INTO t%s VALUES (1)', i); END LOOP; END \$\$");
	value($node, 'CHECKPOINT') foreach 1, 2;
	is(soon(sub { status($node)->{num_requested} >= 2 && 'seen' }, 60), 'seen', 'two checkpoints');
	is(topics($node), '', 'nothing is found');
};

done_testing();
