
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerLog - what the server log says, for whole-server tests; WalsizerTest exports all of it

=head1 DESCRIPTION

The server log is the truth: how many checkpoints WAL forced is counted from the lines "checkpoint starting: wal",
never from what walsizer says about itself.

=over

=item checkpoints($node, $since, $until), forced(...), timed(...), requested(...)

What the log says about the checkpoints that started in that time (both ends optional, seconds since 1970): hashes with
at, flags, and, once complete, distance in bytes (from the redo point before to its own). forced() are those that WAL
volume asked for; timed() those of the timer alone; requested() the rest.

=back

=cut

package WalsizerLog;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(checkpoints forced timed requested log_since log_size log_lines);

sub checkpoints
{
	my ($node, $since, $until) = @_;
	my @list;
	foreach my $line (split /\n/, slurp_file($node->logfile))
	{
		if ($line =~ /^([\d.]+) .*LOG:  checkpoint starting:(.*)$/)
		{
			push @list, { at => $1, flags => $2 };
		}
		elsif ($line =~ /LOG:  checkpoint complete:.* distance=(\d+) kB/ && @list)
		{
			$list[-1]{distance} = $1 * 1024;
		}
	}
	return grep { $_->{at} >= ($since // 0) && (!defined $until || $_->{at} <= $until) } @list;
}

sub forced
{
	return grep { $_->{flags} =~ /\bwal\b/ } checkpoints(@_);
}

sub timed
{
	return grep { $_->{flags} =~ /\btime\b/ && $_->{flags} !~ /\bwal\b/ } checkpoints(@_);
}

sub requested
{
	return grep { $_->{flags} !~ /\b(?:wal|time)\b/ } checkpoints(@_);
}

sub log_size
{
	my ($node) = @_;
	return -s $node->logfile // 0;
}

sub log_since
{
	my ($node, $offset) = @_;
	return slurp_file($node->logfile, $offset // 0);
}

# The lines of the log since an offset that match.
sub log_lines
{
	my ($node, $offset, $pattern) = @_;
	return grep { /$pattern/ } split /\n/, log_since($node, $offset);
}

1;
