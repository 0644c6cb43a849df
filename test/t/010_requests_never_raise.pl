
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Checkpoints that people and commands ask for (CREATE and DROP DATABASE, CHECKPOINT, a base backup, restarts) are no
# reason to raise max_wal_size, however many they are and however small it is. They are all accounted for.
#
# WALSIZER_TEST_DATABASES: how many databases come and go (long/many_requests.pl uses more than the default).

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $databases = $ENV{WALSIZER_TEST_DATABASES} // 20;

use constant CHECKPOINTS => 50;
use constant RESTARTS    => 5;

# What the last subtest compares with; moves when a server starts with fresh counters.
my $node = new_node('main', { max_wal_size => '64MB' });
start_node($node);
my $strategy = $node->pg_version >= 15;

# Every second one copies files with two checkpoints, the others write the template's pages as WAL (from 15 on).
foreach my $i (1 .. $databases)
{
	value($node, 'CREATE DATABASE shortlived' . ($strategy && $i % 2 ? ' STRATEGY file_copy' : ''));
	value($node, 'DROP DATABASE shortlived');
}
my $after_databases = decision_ids($node);

foreach (1 .. CHECKPOINTS)
{
	value($node, q{SELECT pg_logical_emit_message(true, 'walsizer', repeat('x', 10000))});
	value($node, 'CHECKPOINT');
}
my $after_checkpoints = decision_ids($node);

$node->backup('base');
my $after_backup = decision_ids($node);

restart_node($node) for 1 .. RESTARTS;

my @requested = requested($node);
my $shutdowns = grep { $_->{flags} =~ /shutdown/ } @requested;

is(scalar(forced($node)), 0, 'the load is what it claims: the log knows of no checkpoint forced by WAL');
cmp_ok(scalar(@requested), '>=', $databases + CHECKPOINTS + 1 + RESTARTS, 'and of ' . @requested . ' requested ones');

is($after_databases,   '', "$databases CREATE and DROP DATABASE: no decision");
is($after_checkpoints, '', CHECKPOINTS . ' CHECKPOINT: no decision');
is($after_backup,      '', 'a base backup: no decision');
is(decision_ids($node), '', RESTARTS . ' restarts: no decision');
is(max_wal_size($node), 64 * MB, 'max_wal_size is what it was');
is(auto_conf($node),    '',      'postgresql.auto.conf has no line for it');

# A restart's checkpoint happens while the worker is away, and a start may count as a move of its own: that is the slack.
my ($least, $most) = (@requested - $shutdowns, @requested + RESTARTS);
my $counted = eventually(
	'all requests in walsizer.checkpoints',
	sub {
		my $n = value($node, q{SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints WHERE cause = 'request'});
		return $n >= $least && $n;
	},
	15);
cmp_ok($counted, '>=', $least, "walsizer.checkpoints accounts for $counted requests, the log for " . @requested);
cmp_ok($counted, '<=', $most,  'and invents none');
is(value($node, q{SELECT coalesce(sum(count), 0) FROM walsizer.checkpoints WHERE cause IN ('wal', 'stale')}), 0,
	'none of them counts as forced');
is(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), 0, 'nor in walsizer.stat');
cmp_ok(value($node, 'SELECT num_requested FROM walsizer.stat'), '>=', $least, 'walsizer.stat counts the requests');

done_testing();
