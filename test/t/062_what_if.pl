
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# what_if(): a ladder of sizes from what was recorded, which a restart keeps. Whether its figures are right is the matter
# of what_if_test.cpp and bench/what_if.sh.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = start_node(
	new_node('main', { max_wal_size => '256MB', checkpoint_timeout => '30s', 'walsizer.enable' => 'off', 'walsizer.max' => '4GB' }));
my ($code, undef, $error) = $node->psql('postgres', 'SELECT * FROM walsizer.what_if()');
isnt($code, 0, 'after a start there is nothing to tell from');
like($error, qr/walsizer has recorded WAL for 0:\d\d, too short to tell/, 'which the error says');
like($error, qr/HINT: +One checkpoint_timeout \(0:30\) is the least: try again later/, 'with how long it takes');

my $load = start_wal($node, rate => 20, seconds => 33);
eventually('enough to tell from', sub { ($node->psql('postgres', 'SELECT * FROM walsizer.what_if()'))[0] == 0 }, 120);
stop_load($load);

my @rows = rows($node, 'SELECT * FROM walsizer.what_if()');
my @sizes = map { $_->{max_wal_size} >> 20 } @rows;
is_deeply([ sort { $a <=> $b } @sizes ], \@sizes, 'sizes rise');
foreach my $size (256, 512, 1024, 2048, 4096)
{
	is(scalar(grep { $_ == $size } @sizes), 1, "the ladder has $size MB once");
}
my ($present) = grep { ($_->{note} // '') =~ /present/ } @rows;
is($present->{max_wal_size} >> 20, 256, 'the present size is marked');
ok(!$present->{is_bound}, 'and is no bound');
is($present->{trigger_size}, status($node)->{trigger_size}, 'with its trigger');
cmp_ok($present->{forced_per_hour}, '>', 0, '20 MB/s force checkpoints at 256 MB');
is($rows[-1]{forced_per_hour}, 0, 'and none at 4 GB');
cmp_ok($rows[-1]{timed_per_hour}, '<=', 130, 'the timer has its say there');
cmp_ok($rows[0]{forced_per_hour}, '>=', $rows[1]{forced_per_hour}, 'a smaller size forces no fewer');
is(scalar(grep { !defined $_->{fits_recovery_time} } @rows), 0, 'each size fits the recovery time or not');

# Sizes of the caller's, in the caller's order.
my $sizes = "ARRAY[pg_size_bytes('2GB'), pg_size_bytes('64MB')]";
is(value($node, "SELECT string_agg(pg_size_pretty(max_wal_size), ' ') FROM walsizer.what_if($sizes)"), '2048 MB 64 MB', 'own sizes');
is(value($node, "SELECT count(*) FROM walsizer.what_if('{}')"), 0, 'no sizes, no rows');
($code, undef, $error) = $node->psql('postgres', q{SELECT * FROM walsizer.what_if(since => '1 second')});
like($error, qr/in that time, too short to tell.*look back further/s, 'too short a time is refused');

# What was recorded survives.
my $before = value($node, "SELECT wal_per_hour FROM walsizer.what_if(ARRAY[pg_size_bytes('4GB')])");
restart_node($node, 'fast');
eventually('the worker', sub { status($node)->{worker_pid} });
my $after = value($node, "SELECT wal_per_hour FROM walsizer.what_if(ARRAY[pg_size_bytes('4GB')])");
cmp_ok(abs($after / $before - 1), '<', 0.2, 'a restart keeps the record');
$node->stop('immediate');
$node->start;
eventually('the worker', sub { status($node)->{worker_pid} });
cmp_ok(abs(value($node, "SELECT wal_per_hour FROM walsizer.what_if(ARRAY[pg_size_bytes('4GB')])") / $after - 1),
	'<', 0.2, 'so does a crash');
value($node, 'SELECT walsizer.reset()');
($code) = $node->psql('postgres', 'SELECT * FROM walsizer.what_if()');
isnt($code, 0, 'reset() clears it');

done_testing();
