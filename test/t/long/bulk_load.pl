
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A bulk load from a small setting, twice: COPY, index builds and an UPDATE of every row. Each statement keeps the trigger
# it began with, so that the first load cannot go without a forced checkpoint; the checkpoint that it forces is
# kept spread by raises while the statement's next request waits, and the second load begins with what it needs.
#
# About 2 minutes.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

my %settings = (
	max_wal_size                 => '128MB',
	checkpoint_timeout           => '300s',
	checkpoint_completion_target => '0.9',
	shared_buffers               => '256MB',
	maintenance_work_mem         => '256MB');

# Returns the forced checkpoints of one load, those included that begin when the one before is complete.
sub load_once
{
	my ($node) = @_;
	my $began  = time;
	my $lsn    = value($node, q{SELECT pg_current_wal_insert_lsn() - '0/0'});
	$node->command_ok([ 'pgbench', '-i', '-q', '-s', '20', '-p', $node->port, 'postgres' ], 'pgbench -i -s 20');
	value($node, 'UPDATE pgbench_accounts SET abalance = abalance + 1');
	note(sprintf '%.0f MB of WAL in %.0f s', (value($node, q{SELECT pg_current_wal_insert_lsn() - '0/0'}) - $lsn) / MB, time - $began);
	value($node, 'CHECKPOINT');
	return forced($node, $began);
}

my %node;
my %forced;
foreach my $name (qw(untuned tuned))
{
	$node{$name} = new_node($name, { %settings, ($name eq 'untuned' ? (shared_preload_libraries => '') : ()) });
	$name eq 'untuned' ? $node{$name}->start : start_node($node{$name});
	foreach my $round (1, 2)
	{
		my @all = load_once($node{$name});
		note(sprintf '%s, load %d: %d forced', $name, $round, scalar(@all));
		push @{ $forced{$name} }, scalar(@all);
	}
	$node{$name}->stop('immediate') if $name eq 'untuned';
}

note("$_->{decided_at} $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach grows($node{tuned});
cmp_ok($_, '>=', 8, "without walsizer a load forces $_ checkpoints") foreach @{ $forced{untuned} };
cmp_ok($forced{tuned}[0], '<=', 3, "with it the first forces $forced{tuned}[0]");
is($forced{tuned}[1], 0, 'and the second none');

# A CHECKPOINT at the distance of an older trigger cannot be told from that statement's: there were two.
my $counts = row($node{tuned}, 'SELECT num_wal_forced + num_stale AS known FROM walsizer.stat');
cmp_ok($counts->{known}, '>=', $forced{tuned}[0], 'each is accounted for');
cmp_ok($counts->{known}, '<=', $forced{tuned}[0] + 2, 'and no other but the commands');
cmp_ok($_->{new_size}, '<=', 2 * $_->{old_size}, "$_->{old_size} at most doubled") foreach grows($node{tuned});

done_testing();
