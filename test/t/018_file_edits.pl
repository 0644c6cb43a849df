
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer's own line in postgresql.auto.conf hides what postgresql.conf says. An edit there, by hand, Ansible or
# Patroni, must not silently do nothing: lower is an order, higher is the new original.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '300s' });
start_node($node);

# Lets walsizer raise max_wal_size above what it is.
sub let_it_raise
{
	my $from = max_wal_size($node);
	my $load = start_wal($node, rate => 40, seconds => 30);
	ok(soon(sub { max_wal_size($node) > $from && auto_conf($node) =~ /^max_wal_size/ }), 'there is a line of walsizer');
	stop_load($load);
	return;
}

sub is_held_at
{
	my ($mb) = @_;
	is(soon(sub { status($node)->{state} eq 'held' && 'held' }), 'held', 'state');
	is(soon(sub { max_wal_size($node) == $mb * MB && $mb }), $mb, "the server runs with ${mb}MB");
	is(auto_conf($node), '', 'walsizer withdrew its line');
	$node->psql('postgres', 'SELECT * FROM walsizer.resume()');
	return;
}

subtest 'a lower value in postgresql.conf, reloaded' => sub {
	let_it_raise();
	$node->adjust_conf('postgresql.conf', 'max_wal_size', "'48MB'");
	$node->reload;
	is_held_at(48);
};

subtest 'a lower value in postgresql.conf, then a restart' => sub {
	let_it_raise();
	$node->stop;
	$node->adjust_conf('postgresql.conf', 'max_wal_size', "'32MB'");
	start_node($node);
	is_held_at(32);
};

subtest 'a higher value in postgresql.conf: the larger of both stays, undo() goes to the new one' => sub {
	let_it_raise();
	my $present = max_wal_size($node) / MB;
	cmp_ok($present, '>', 40, "present value $present MB");
	$node->adjust_conf('postgresql.conf', 'max_wal_size', "'40MB'");
	$node->reload;
	look($node);
	is(max_wal_size($node), $present * MB, 'the larger one stays');
	is(soon(sub { status($node)->{original_size} == 40 * MB && 40 }), 40, 'the new original');
	$node->psql('postgres', 'SELECT * FROM walsizer.undo()');
	is(max_wal_size($node), 40 * MB, 'undo() goes there');
	is(auto_conf($node), '', 'without a line');
};

done_testing();
