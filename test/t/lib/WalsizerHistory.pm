
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerHistory - a past for a server: what walsizer would have recorded in weeks

=head1 DESCRIPTION

Some of what walsizer tells rests on days of windows. A test gives a stopped server such a past by rewriting its history
file in walsizer's own format (history.hpp, state_file.cpp): the sections that the server itself wrote stay, but for the
windows, which are made here, and the times of its decisions, which are moved. At the next start the server reads it as it
reads any other.

=over

=item give_past($node, age => $seconds, windows => [ { ... }, ... ])

Moves everything on record that many seconds into the past, and appends these windows, oldest first, so that the last one
ends now. A window is { length => $seconds, wal => $bytes, fpi => $bytes }; the rest of it is that of a quiet OLTP server
with one timed checkpoint per window.

=back

=cut

package WalsizerHistory;

use strict;
use warnings;

use Config;
use Exporter 'import';
use Time::HiRes qw(time);
use WalsizerDamage;

our @EXPORT = qw(give_past can_write_history);

use constant {
	DECISIONS     => 5,
	WINDOWS       => 6,
	CHECKPOINTS   => 7,
	BUCKETS       => 11,
	HEAD          => 24,
	SECTION       => 16,
	EPOCH         => 946_684_800,    # 2000-01-01, where PostgreSQL's time begins
	SECOND        => 1_000_000,
	WINDOW_LAYOUT => 'q3 q4 q3 d2 q3 C x7 q8',
};

# The layout is that of a 64-bit machine.
sub can_write_history
{
	return $Config{ptrsize} == 8 && $Config{ivsize} == 8;
}

# As PostgreSQL's pg_crc32c.
sub _crc32c
{
	my ($bytes) = @_;
	my @table = map {
		my $crc = $_;
		$crc = $crc & 1 ? ($crc >> 1) ^ 0x82F63B78 : $crc >> 1 foreach 1 .. 8;
		$crc;
	} 0 .. 255;
	my $crc = 0xFFFFFFFF;
	$crc = $table[ ($crc ^ $_) & 0xFF ] ^ ($crc >> 8) foreach unpack 'C*', $bytes;
	return $crc ^ 0xFFFFFFFF;
}

# The sections in their order, each [ id, element size, elements ].
sub _sections
{
	my ($bytes) = @_;
	my @sections;
	for (my $at = HEAD; $at < length $bytes;)
	{
		my ($id, $size, $count) = unpack 'L3', substr($bytes, $at, SECTION);
		push @sections, [ $id, $size, substr($bytes, $at + SECTION, $size * $count) ];
		$at += SECTION + $size * $count;
	}
	return @sections;
}

# Moves the 64-bit times at these offsets of each element.
sub _move
{
	my ($section, $by, @offsets) = @_;
	my (undef, $size) = @$section;
	for (my $at = 0; $at < length $section->[2]; $at += $size)
	{
		foreach my $offset (@offsets)
		{
			my $time = unpack 'q', substr($section->[2], $at + $offset, 8);
			substr($section->[2], $at + $offset, 8) = pack 'q', $time - $by if $time != 0;
		}
	}
	return;
}

# WindowRecord of journal.hpp, field by field.
sub _window
{
	my ($end, $window) = @_;
	my $length = int($window->{length} * SECOND);
	my $wal    = int $window->{wal};
	return pack WINDOW_LAYOUT,
	  $end - $length, $end, $length,
	  1, 0, 0, 0,                              # one timed checkpoint
	  $wal, int($window->{fpi} // 0), 0,
	  1000, 10,                                # ms written and synced
	  1000, $wal, $wal,                        # buffers; the peaks
	  0,
	  $length, $wal, 1000, 10, 0, 10, 0, 1;    # timeout, statistics, xids, bgwriter, backends, completed
}

sub give_past
{
	my ($node, %past) = @_;
	my $bytes   = history_bytes($node);
	my $age     = int(($past{age} // 0) * SECOND);
	my $end     = int((time - EPOCH) * SECOND);
	my $windows = '';
	foreach my $window (reverse @{ $past{windows} })
	{
		$windows = _window($end, $window) . $windows;
		$end -= int($window->{length} * SECOND);
	}
	my $body = '';
	foreach my $section (_sections($bytes))
	{
		my ($id, $size) = @$section;
		_move($section, $age, 8)    if $id == DECISIONS;
		_move($section, $age, 0, 8) if $id == WINDOWS;
		_move($section, $age, 0)    if $id == CHECKPOINTS || $id == BUCKETS;
		if ($id == WINDOWS)
		{
			my $mine = length _window(0, { length => 0, wal => 0 });
			die "a window takes $size bytes here and $mine in the server\n" if $size != $mine;
			$section->[2] .= $windows;
		}
		my $count = $size ? length($section->[2]) / $size : 0;
		$body .= pack('L4', $id, $size, $count, 0) . $section->[2];
	}
	my ($magic, $format) = unpack 'L2', $bytes;
	write_history($node, pack('L2 Q L2', $magic, $format, length $body, _crc32c($body), 0) . $body);
	return;
}

1;
