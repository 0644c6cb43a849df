
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# dry_run and enable = off change nothing, and record.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

my $node = new_node('main', { 'walsizer.enable' => 'off' });
start_node($node);

sub nothing_changed
{
	is(max_wal_size($node), 64 * MB, 'max_wal_size is what it was');
	is(auto_conf($node), '', 'postgresql.auto.conf has no line for it');
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE applied AND action = 'grow'}), 0, 'no decision was applied');
	return;
}

subtest 'enable = off' => sub {
	is(status($node)->{state}, 'disabled', 'state');
	my $since = time;
	finish_load(start_wal($node, rate => 40, seconds => 4));
	my $forced = forced($node, $since);
	cmp_ok($forced, '>=', 3, "the log knows of $forced forced checkpoints");
	value($node, 'SELECT walsizer.evaluate()');
	look($node);
	nothing_changed();
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'grow'}), 0, 'nothing was decided');
	is( value($node, q{SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints WHERE cause = 'wal'}), $forced,
		'all of them were recorded');
	is(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), $forced, 'and counted');

	# Under a lasting storm as well: a DBA who only looks must see what would be right.
	my $load = start_wal($node, rate => 10, seconds => 60);
	ok(soon(sub { status($node)->{recommended} > 64 * MB }, 45), 'a recommendation is computed all the same')
	  or diag(explain(status($node)));
	stop_load($load);
};

subtest 'dry_run = on' => sub {
	value($node, 'ALTER SYSTEM SET walsizer.dry_run = on');
	value($node, 'ALTER SYSTEM SET walsizer.enable = on');
	$node->reload;
	eventually('the state', sub { status($node)->{state} eq 'dry_run' });
	finish_load(start_wal($node, rate => 40, seconds => 4));
	my @grows = eventually('a decision', sub { my @g = grows($node); @g && \@g })->@*;
	nothing_changed();
	is($grows[0]{outcome}, 'dry_run', 'the outcome says so');
	is($grows[0]{old_size}, 64 * MB, 'it starts from the real value');
	cmp_ok($grows[0]{new_size}, '>', 64 * MB, 'and would have raised');
	is($grows[$_]{old_size}, $grows[ $_ - 1 ]{new_size}, 'each next one starts from the virtual value') foreach 1 .. $#grows;
	is(scalar(log_lines($node, 0, qr/parameter "max_wal_size" changed/)), 0, 'the server never heard of it');
};

subtest 'dry_run = off: the real thing' => sub {
	value($node, 'ALTER SYSTEM RESET walsizer.dry_run');
	$node->reload;
	eventually('the state', sub { status($node)->{state} eq 'tuning' });
	my $load = start_wal($node, rate => 40, seconds => 10);
	ok(soon(sub { max_wal_size($node) > 64 * MB }), 'max_wal_size grows');
	stop_load($load);
	like(auto_conf($node), qr/^max_wal_size = /, 'by a line in postgresql.auto.conf');
	is( soon(sub { value($node, q{SELECT outcome FROM walsizer.decisions WHERE action = 'grow' AND applied ORDER BY id LIMIT 1}) =~ /(effective)/ && $1 }),
		'effective', 'verified');
};

done_testing();
