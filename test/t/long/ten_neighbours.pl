
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Ten clusters on one volume. Each of them sees the whole volume's free space and none knows of the others, so that ten
# raises, each within its ceiling, may promise more than there is. As WAL takes the space, and then a stranger's file,
# each gives back in time: nobody runs out of space, nobody goes below what its DBA had.
#
# About 4 minutes.

use strict;
use warnings;

use WalsizerDamage ':own_mounts';

use List::Util qw(max min sum);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant NEIGHBOURS => 10;
use constant ORIGINAL   => 64;
use constant RATE       => 3;      # MB/s each
use constant TIMEOUT    => 30;
use constant VOLUME     => 1500;
use constant RESERVE    => 400;
# What the stranger takes: a server at its original size keeps up to 7 segments, and that much is left to each.
use constant STRANGER => VOLUME - NEIGHBOURS * 7 * 16;
use constant STEP     => 16;
# Less than half of the reserve: it gets serious for everybody.
use constant LEFT_FREE => 0.4 * RESERVE;

# 90 MB in a checkpoint_timeout, the segment in advance, two cycles, headroom.
use constant NEED => (RATE * TIMEOUT + 16) * 1.9 * 1.05;
cmp_ok(NEIGHBOURS * NEED, '>', VOLUME - RESERVE, sprintf('together they need %d MB and may have %d MB', NEIGHBOURS * NEED, VOLUME - RESERVE));

my $volume = small_volume(VOLUME);
my @nodes;
foreach my $i (1 .. NEIGHBOURS)
{
	my $node = new_node(
		"neighbour_$i",
		{
			max_wal_size            => ORIGINAL . 'MB',
			checkpoint_timeout      => TIMEOUT . 's',
			shared_buffers          => '16MB',
			max_connections         => 20,
			'walsizer.disk_reserve' => RESERVE . 'MB'
		});
	put_wal_on($node, $volume);
	push @nodes, start_node($node);
}
is(status($nodes[0])->{disk_size}, VOLUME * MB, 'they see the volume');

# WAL by the clock, and a thousand dirty pages: a checkpoint with nothing to write ends at once and gives its WAL back,
# this one is paced and keeps nearly two cycles of it.
my @loads;
foreach my $node (@nodes)
{
	value($node, "CREATE TABLE pages WITH (fillfactor = 10) AS SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 1000) i");
	push @loads, start_wal($node, rate => RATE, seconds => 900);
	push @loads, start_load($node, "UPDATE pages SET i = i + 1;\n\\sleep 10 s\n", -T => 900);
}

my ($lowest, $stranger) = (VOLUME, 0);

sub disk_is_full
{
	return grep { log_lines($_, 0, qr/PANIC|No space left/) } @nodes;
}

sub free_now
{
	my $free = volume_free($volume) / MB;
	$lowest = min($lowest, $free);
	return $free;
}

# Watches the volume until all neighbours have written $mb more, or one has no space. $each is called all the while.
sub while_they_write
{
	my ($mb, $each) = @_;
	my %lsn = map { $_->name => now_lsn($_) } @nodes;
	my @behind = @nodes;
	eventually(
		"$mb MB of WAL from each",
		sub {
			my $free = free_now();
			return 1 if disk_is_full();
			$each->($free) if $each;
			# One at a time: ten questions ten times a second would be a load of their own.
			shift @behind if wal_written($behind[0], $lsn{ $behind[0]->name }) >= $mb * MB;
			return !@behind;
		},
		300);
	return;
}

sub sizes
{
	my @sizes = map { max_wal_size($_) / MB } @nodes;
	note(sprintf('%s: max_wal_size %s, together %d MB; WAL %d MB; free %d MB, least so far %d MB',
			$_[0], "@sizes", sum(@sizes), sum(map { wal_dir_size($_) } @nodes) / MB, free_now(), $lowest));
	return @sizes;
}

my $disk_shrinks = q{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink' AND cause = 'disk'};

subtest 'they grow, side by side' => sub {
	while_they_write(3 * TIMEOUT * RATE);
	my @sizes = sizes('grown');
	is(scalar(disk_is_full()), 0, 'nobody runs out of space');
	cmp_ok($lowest, '>', 0, sprintf('the least that was ever free: %.0f MB', $lowest));
	cmp_ok(scalar(grep { grows($_) } @nodes), '>', 0, 'some have grown');
	cmp_ok(max(map { $_->{new_size} } map { grows($_) } @nodes), '<=', 2 * NEED * MB, 'none far beyond its need');
};

subtest 'a stranger fills the volume' => sub {
	my %before = map { $_->name => value($_, $disk_shrinks) } @nodes;
	my %large  = map { $_->name => max_wal_size($_) > ORIGINAL * MB } @nodes;
	my $failed = 0;
	while_they_write(
		2 * TIMEOUT * RATE,
		sub {
			my ($free) = @_;
			# It takes what it finds, a little at a time.
			while ($stranger < STRANGER && $free > LEFT_FREE + STEP)
			{
				$stranger = min(STRANGER, $stranger + STEP);
				$failed++ if system('fallocate', '-l', "${stranger}M", "$volume/ballast") != 0;
				$free = free_now();
			}
		});
	is($failed, 0, 'every one of its writes found space');
	is($stranger, STRANGER, "it took $stranger MB");
	# Who looks when the others have already made room may keep what it needs.
	my $keeps = sub { grep { $large{ $_->name } && value($_, $disk_shrinks) == $before{ $_->name } && max_wal_size($_) > ORIGINAL * MB } @nodes };
	ok(soon(sub { !$keeps->() || free_now() > RESERVE / 2 }, 60), 'each that was above its original gave back, as long as it was serious');
	cmp_ok(scalar(grep { value($_, $disk_shrinks) > $before{ $_->name } } @nodes), '>', 0, 'some did');
	sizes('full');
	is(scalar(disk_is_full()), 0, 'nobody runs out of space');
};

subtest 'and it stays full' => sub {
	while_they_write(2 * TIMEOUT * RATE);
	sizes('still full');
	is(scalar(disk_is_full()), 0, 'nobody runs out of space');
	cmp_ok($lowest, '>', 0, sprintf('the least that was ever free: %.0f MB of %d', $lowest, VOLUME));
};

stop_load($_) foreach @loads;

foreach my $node (@nodes)
{
	my $name = $node->name;
	is($node->psql('postgres', 'SELECT 1'), 0, "$name: lives");
	is(scalar(log_lines($node, 0, qr/PANIC|No space left|reinitializing/)), 0, "$name: never ran out of space");
	my @rows    = rows($node, 'SELECT * FROM walsizer.decisions ORDER BY id');
	my @shrinks = grep { $_->{action} eq 'shrink' } @rows;
	my @grows   = grep { $_->{action} eq 'grow' } @rows;
	ok( !@grows || grep({ $_->{cause} eq 'disk' } @shrinks) || max_wal_size($node) <= status($node)->{ceiling},
		"$name: raised " . @grows . ' times, gave back ' . @shrinks . ' times');
	is(scalar(grep { $_->{new_size} < ORIGINAL * MB } @shrinks), 0, "$name: no step below the original");
	cmp_ok(max_wal_size($node), '>=', ORIGINAL * MB, "$name: nor is it now");
	is(scalar(grep { $_->{new_size} > $_->{ceiling} } @grows), 0, "$name: no raise above the ceiling it saw");
	is(scalar(grep { $_->{action} eq 'external' } @rows), 0, "$name: takes no neighbour for a hand");
	note("$_->{decided_at} $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach @rows;
}

done_testing();
