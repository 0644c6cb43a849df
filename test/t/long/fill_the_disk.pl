
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Volumes that fill up while the server writes: by other files, by neighbours that are tuned as well, by an archiver that
# fails. The server never ends for want of WAL space because of walsizer, and a dead archiver finds no more WAL on the disk
# than without it.
#
# About 5 minutes.

use strict;
use warnings;

use WalsizerDamage ':own_mounts';

use List::Util qw(max min sum);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

sub end_server
{
	my ($node) = @_;
	$node->stop('immediate');
	$node->clean_node if !defined $ENV{PG_TEST_NOCLEAN};
	return;
}

# Still the first life of this server, and no write failed.
sub is_unhurt
{
	my ($node, $what) = @_;
	is($node->psql('postgres', 'SELECT 1'), 0, "$what: the server lives");
	is(scalar(log_lines($node, 0, qr/PANIC|No space left|reinitializing/)), 0, "$what: it never ran out of space");
	return;
}

subtest 'other files take the volume while pgbench writes' => sub {
	my ($size, $reserve, $start) = (640, 128, 64);
	my $volume = small_volume($size);
	my $node   = new_node('alone',
		{ max_wal_size => "${start}MB", shared_buffers => '256MB', checkpoint_timeout => '300s', 'walsizer.disk_reserve' => "${reserve}MB" });
	put_wal_on($node, $volume);
	start_node($node);
	$node->command_ok([ 'pgbench', '-i', '-q', '-s', '10', '-p', $node->port, 'postgres' ], 'pgbench -i');
	my $load = start_load($node, undef, '-c', 8, '-j', 2, '-T', 600);
	eventually('growth', sub { max_wal_size($node) >= 256 * MB }, 120);
	my ($largest, $ballast, $ok) = (max_wal_size($node), 0, 1);
	# Until only that is left which the server needs at the size it began with.
	my $most = $size - 2.5 * $start;
	while ($ok && $ballast < $most)
	{
		my $lsn = now_lsn($node);
		$ballast = min($most, $ballast + 16);
		$ok = system('fallocate', '-l', "${ballast}M", "$volume/ballast") == 0;
		wal_reaches($node, $lsn, 8 * MB);
		$largest = max($largest, max_wal_size($node));
	}
	ok($ok, "$ballast MB of other files") or return;
	look($node);
	wal_reaches($node, now_lsn($node), 100 * MB);
	is_unhurt($node, 'full');
	my @shrinks = rows($node, q{SELECT * FROM walsizer.decisions WHERE action = 'shrink' ORDER BY id});
	cmp_ok(scalar(@shrinks), '>=', 1, sprintf('of %d MB at most it gave back in %d steps', $largest / MB, scalar(@shrinks)));
	is(scalar(grep { $_->{new_size} < $start * MB } @shrinks), 0, 'never below the original');
	note("$_->{decided_at} $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach rows($node, 'SELECT * FROM walsizer.decisions ORDER BY id');
	stop_load($load);
	end_server($node);
};

subtest 'neighbours on one volume, each tuned' => sub {
	my ($size, $reserve, $rate, $neighbours) = (1200, 400, 8, 3);
	my $volume = small_volume($size);
	my @nodes;
	foreach my $i (1 .. $neighbours)
	{
		my $node = new_node("neighbour_$i",
			{ max_wal_size => '64MB', checkpoint_timeout => '300s', 'walsizer.disk_reserve' => "${reserve}MB" });
		put_wal_on($node, $volume);
		push @nodes, start_node($node);
	}
	my @loads = map { start_wal($_, rate => $rate, seconds => 300) } @nodes;
	my ($lowest, $full) = ($size * MB, 0);
	my $shrinks = q{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink' AND cause = 'disk'};
	eventually(
		'each neighbour to give back',
		sub {
			$lowest = min($lowest, volume_free($volume));
			return 1 if grep { log_lines($_, 0, qr/PANIC/) } @nodes;
			# Once each has grown as far as the others let it, other files take what is free, and some of the reserve.
			if (!$full && !grep { max_wal_size($_) < 256 * MB || status($_)->{state} ne 'at_ceiling' } @nodes)
			{
				$full = int(volume_free($volume) / MB) - int(0.45 * $reserve);
				set_ballast($volume, $full);
			}
			return $full && !grep { value($_, $shrinks) == 0 } @nodes;
		},
		240);
	note("other files took $full MB");
	# And it goes on like that: as much WAL again as the volume is large.
	my $lsn = now_lsn($nodes[0]);
	eventually('more WAL', sub { $lowest = min($lowest, volume_free($volume)); wal_written($nodes[0], $lsn) > $size * MB / $neighbours });
	foreach my $node (@nodes)
	{
		is_unhurt($node, $node->name);
		cmp_ok(value($node, $shrinks), '>=', 1, $node->name . ': it gave back, to ' . max_wal_size($node) / MB . ' MB');
		cmp_ok(max_wal_size($node), '>=', 64 * MB, $node->name . ': not below the original');
		note("$_->{decided_at} $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}")
		  foreach rows($node, 'SELECT * FROM walsizer.decisions ORDER BY id');
	}
	cmp_ok($lowest, '>', 0, sprintf('the least space that was ever free: %d MB of %d', $lowest / MB, $size));
	$_->{run}->kill_kill(grace => 1), $_->{run} = undef foreach @loads;
	end_server($_) foreach @nodes;
};

# The same transactions on the same data, on a server with walsizer and one without.
subtest 'a dead archiver' => sub {
	my %settings = (
		max_wal_size       => '64MB',
		checkpoint_timeout => '300s',
		shared_buffers     => '256MB',
		archive_mode       => 'on',
		archive_command    => 'false',
		'full_page_writes' => 'on');
	my (%on_disk, %written, %checkpoints);
	foreach my $name (qw(without with))
	{
		my $node = new_node($name, { %settings, $name eq 'without' ? (shared_preload_libraries => '') : () });
		$name eq 'with' ? start_node($node) : $node->start;
		$node->command_ok([ 'pgbench', '-i', '-q', '-s', '10', '-p', $node->port, 'postgres' ], "$name: pgbench -i");
		finish_load(start_load($node, undef, '-c', 4, '-j', 2, '-t', 10_000, '--random-seed=42'));
		$on_disk{$name}     = wal_dir_size($node);
		$written{$name}     = value($node, q{SELECT pg_current_wal_insert_lsn() - '0/0'});
		$checkpoints{$name} = forced($node);
		if ($name eq 'with')
		{
			is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink'}), 0, 'with: nothing was lowered');
			note("$_->{decided_at} $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach rows($node, 'SELECT * FROM walsizer.decisions ORDER BY id');
		}
		end_server($node);
	}
	note(sprintf('%s: %d MB of WAL on disk, LSN %d MB, %d forced checkpoints', $_, $on_disk{$_} / MB, $written{$_} / MB, $checkpoints{$_})) foreach qw(without with);
	cmp_ok($checkpoints{without}, '>=', 3, 'the server without walsizer was under pressure');
	# One segment that was made in advance may be the difference.
	cmp_ok($on_disk{with}, '<=', $on_disk{without} + 16 * MB, 'walsizer puts no more WAL on the filling disk than the server without it');
};

done_testing();
