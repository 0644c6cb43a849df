
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer never fights people: a raise by hand is the new starting point, a lowering by hand is an order.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '300s' });
start_node($node);

sub by_hand
{
	my ($command) = @_;
	value($node, "ALTER SYSTEM $command");
	$node->reload;
	look($node);
	return;
}

sub newest
{
	my ($action) = @_;
	return row($node, "SELECT * FROM walsizer.decisions WHERE action = '$action' ORDER BY id DESC LIMIT 1");
}

# About 6 checkpoints at 64MB; returns how many the log knows of.
sub pressure
{
	my ($rate) = @_;
	my $since = time;
	finish_load(start_wal($node, rate => $rate, seconds => 3));
	look($node);
	return scalar(forced($node, $since));
}

subtest 'a raise by hand is the new starting point' => sub {
	by_hand(q{SET max_wal_size = '128MB'});
	my $external = eventually('the record', sub { newest('external') });
	is($external->{cause}, 'manual', 'cause');
	is($external->{old_size}, 64 * MB, 'from');
	is($external->{new_size}, 128 * MB, 'to');
	is(status($node)->{state}, 'tuning', 'it goes on tuning');
	my $load = start_wal($node, rate => 40, seconds => 3);
	eventually('a raise', sub { grows($node) });
	finish_load($load);
	is((grows($node))[0]{old_size}, 128 * MB, 'its own next raise starts there');
};

subtest 'a lowering by hand is an order' => sub {
	by_hand(q{SET max_wal_size = '64MB'});
	eventually('the state', sub { status($node)->{state} eq 'held' });
	my $before = grows($node);
	cmp_ok(pressure(40), '>=', 2, 'checkpoints are forced');
	value($node, 'SELECT walsizer.evaluate()');
	is(scalar(grows($node)), $before, 'no raise');
	is(max_wal_size($node), 64 * MB, 'max_wal_size is what the DBA set');
	restart_node($node);
	is(status($node)->{state}, 'held', 'a restart does not end it');
	cmp_ok(pressure(40), '>=', 2, 'checkpoints are forced');
	is(max_wal_size($node), 64 * MB, 'no raise');
};

subtest 'a raise by hand ends it' => sub {
	by_hand(q{SET max_wal_size = '96MB'});
	eventually('the state', sub { status($node)->{state} eq 'tuning' });
	pressure(40);
	ok(eventually('a raise', sub { max_wal_size($node) > 96 * MB }), 'the next load raises');
};

subtest 'RESET by hand is an order, too' => sub {
	by_hand('RESET max_wal_size');
	eventually('the state', sub { status($node)->{state} eq 'held' });
	is(max_wal_size($node), 64 * MB, 'the value of postgresql.conf');
	is(auto_conf($node), '', 'no line comes back');
	value($node, 'SELECT * FROM walsizer.resume()');
	pressure(40);
	eventually('a raise', sub { max_wal_size($node) > 64 * MB });
};

done_testing();
