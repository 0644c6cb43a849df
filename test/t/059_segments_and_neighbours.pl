
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Two clusters on one machine at once, with WAL segments of 1 MB and of 64 MB (and, with WALSIZER_TEST_BIG_SEGMENTS, of
# 1 GB): each sizes itself, in whole segments, never below two of them, and knows nothing of the other.

use strict;
use warnings;

use Test::More;
use WalsizerDamage;
use WalsizerTest;

# Segment size in MB => what it takes: start, load.
my %case = (
	1  => { start => 2,   rate => 10, seconds => 20 },
	64 => { start => 128, rate => 30, seconds => 20 });
%case = (1024 => { start => 2048, rate => 90, seconds => 40 }) if $ENV{WALSIZER_TEST_BIG_SEGMENTS};

my (%server, %load);
foreach my $segment (sort { $a <=> $b } keys %case)
{
	# min_wal_size must be two segments, too.
	my $start = $case{$segment}{start};
	my $node  = new_node("segments_$segment",
		{ max_wal_size => "${start}MB", min_wal_size => (2 * $segment) . 'MB', checkpoint_timeout => '300s', 'walsizer.disk_reserve' => 0 });
	small_segments($node, $segment);
	start_node($node);
	$server{$segment} = $node;
	is(value($node, 'SHOW wal_segment_size'), $segment == 1024 ? '1GB' : "${segment}MB", "segments of $segment MB");
}
foreach my $segment (keys %case)
{
	$load{$segment} = start_wal($server{$segment}, rate => $case{$segment}{rate}, seconds => $case{$segment}{seconds});
}

foreach my $segment (sort { $a <=> $b } keys %case)
{
	my $node  = $server{$segment};
	my $start = $case{$segment}{start} * MB;
	my $bytes = $segment * MB;
	finish_load($load{$segment});
	my @grows = grows($node);
	cmp_ok(scalar(@grows), '>=', 1, "$segment MB: raised " . @grows . ' times, to ' . max_wal_size($node) / MB . ' MB');
	is(scalar(grep { $_->{new_size} % $bytes || $_->{new_size} < 2 * $bytes || $_->{wanted_size} % $bytes } @grows), 0, "$segment MB: whole segments, two at least");
	is($grows[0]{old_size}, $start, "$segment MB: the first one from its own start");
	is(scalar(grep { $_->{action} eq 'external' } rows($node, 'SELECT action FROM walsizer.decisions')), 0, "$segment MB: nobody else at work");
	is(max_wal_size($node), $grows[-1]{new_size}, "$segment MB: the server runs with its own last decision");

	# The floor: no ceiling may ask for a value at which the server would not start again.
	set_and_reload($node, 'walsizer.max', '2MB');
	ok(soon(sub { status($node)->{ceiling} == 2 * $bytes }), "$segment MB: a ceiling of less than two segments is two segments");
	my $size = max_wal_size($node);
	value($node, 'SELECT walsizer.evaluate()');
	is(max_wal_size($node), $size, "$segment MB: and lowers nothing");
}

# Each is undone alone.
foreach my $segment (sort { $a <=> $b } keys %case)
{
	my $node   = $server{$segment};
	my %others = map { $_ => max_wal_size($server{$_}) } grep { $_ != $segment } keys %case;
	my $undo   = row($node, 'SELECT * FROM walsizer.undo()');
	is($undo->{new_size}, $case{$segment}{start} * MB, "$segment MB: undone");
	is(max_wal_size($node), $case{$segment}{start} * MB, "$segment MB: the server runs with it");
	is(max_wal_size($server{$_}), $others{$_}, "$_ MB: untouched by that") foreach keys %others;
	$node->restart;
	ok(look($node), "$segment MB: it starts again");
}

done_testing();
