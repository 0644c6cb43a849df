
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A walsizer.max below the present max_wal_size never lowers it, also while checkpoints are being forced.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = new_node('main', { max_wal_size => '128MB', checkpoint_timeout => '300s', 'walsizer.max' => '96MB' });
start_node($node);

subtest 'nothing is wrong as long as nothing is needed' => sub {
	value($node, 'SELECT walsizer.evaluate()');
	look($node);
	is(status($node)->{state}, 'tuning', 'state');
	is(max_wal_size($node), 128 * MB, 'max_wal_size');
};

subtest 'under pressure' => sub {
	my $load = finish_load(start_wal($node, rate => 60, seconds => 4));
	cmp_ok(scalar(forced($node)), '>=', 2, 'the log knows of ' . forced($node) . ' forced checkpoints');
	soon(sub { status($node)->{state} eq 'at_ceiling' });
	value($node, 'SELECT walsizer.evaluate()');
	look($node);

	my $status = status($node);
	is($status->{state}, 'at_ceiling', 'the state says so');
	is($status->{limited_by}, 'max', 'and what limits');
	is($status->{ceiling}, 96 * MB, 'and where');
	cmp_ok($status->{need}, '>', 128 * MB, 'the need is shown uncapped');
	is(max_wal_size($node), 128 * MB, 'max_wal_size was not lowered');
	is(auto_conf($node), '', 'postgresql.auto.conf was not touched');
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE new_size < old_size AND applied}), 0, 'no decision lowers');
	is(value($node, 'SELECT num_lowered FROM walsizer.stat'), 0, 'nothing was lowered');
	is(scalar(log_lines($node, 0, qr/WARNING:.*walsizer/)), 1, 'one warning, not one per forced checkpoint');
};

subtest 'a higher walsizer.max, and it raises' => sub {
	value($node, q{ALTER SYSTEM SET walsizer.max = '2GB'});
	$node->reload;
	my $load = start_wal($node, rate => 60, seconds => 4);
	ok(soon(sub { max_wal_size($node) > 128 * MB }), 'max_wal_size grows');
	finish_load($load);
	cmp_ok(max_wal_size($node), '<=', 2048 * MB, 'and not beyond the ceiling');
};

done_testing();
