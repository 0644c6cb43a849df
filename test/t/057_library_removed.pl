
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer is taken out of shared_preload_libraries after it has worked, with its settings still in the files: starts and
# reloads say nothing about it, max_wal_size stays where it was and is the DBA's again.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerDamage;
use WalsizerTest;

my $node = new_node('main', { 'walsizer.max' => '2GB', 'walsizer.threshold' => 3, 'walsizer.disk_reserve' => '1GB', checkpoint_timeout => '300s' });
start_node($node);
my $load = start_wal($node, rate => 30, seconds => 60);
eventually('a raise', sub { max_wal_size($node) > 64 * MB });
stop_load($load);
set_and_reload($node, 'walsizer.target_ratio', '0.2');
look($node);
my $line = auto_conf($node);
like($line, qr/^max_wal_size = '\d+MB'\n$/, "one line in postgresql.auto.conf: $line");

my $size = max_wal_size($node);
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', q{''});
$node->stop;
my $offset = log_size($node);
$node->start;

subtest 'without the library' => sub {
	is(value($node, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'walsizer'}), 0, 'no worker');
	is(max_wal_size($node), $size, 'max_wal_size stays');
	$node->reload for 1 .. 3;
	# The last reload is over when a change of it works.
	set_and_reload($node, 'checkpoint_warning', '7s');
	eventually('the reload', sub { value($node, 'SHOW checkpoint_warning') eq '7s' });
	$node->restart;
	my @complaints = grep { !/STATEMENT|listening on/ } log_lines($node, $offset, qr/walsizer|ERROR|WARNING|FATAL|contains errors|unrecognized/);
	is(join("\n", @complaints), '', 'starts and reloads say nothing');
	is(value($node, q{SELECT count(*) FROM pg_file_settings WHERE error IS NOT NULL}), 0, 'no setting in error');
	my ($rc, $out, $err) = $node->psql('postgres', 'SELECT * FROM walsizer.status');
	like("$out$err", qr/not_running|shared_preload_libraries/, 'who asks is told what is missing');
};

subtest 'the DBA takes over' => sub {
	is($node->psql('postgres', 'ALTER SYSTEM RESET walsizer.target_ratio'), 0, 'its own setting can be removed');
	is($node->psql('postgres', 'ALTER SYSTEM RESET max_wal_size'), 0, 'its line can be removed');
	$node->reload;
	ok(soon(sub { max_wal_size($node) == 64 * MB }), 'and postgresql.conf rules again');
	is($node->psql('postgres', 'DROP EXTENSION walsizer'), 0, 'the extension can be dropped');
};

subtest 'and back' => sub {
	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', q{'walsizer'});
	$node->stop;
	start_node($node);
	my $status = status($node);
	is($status->{state}, 'held', 'what the DBA lowered meanwhile is an order');
	is(max_wal_size($node), 64 * MB, 'and is left alone');
	like($status->{reason}, qr/resume/, "told in the reason: $status->{reason}");
};

done_testing();
