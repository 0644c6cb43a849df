
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerOldNodes - methods that PostgreSQL 13's test nodes lack, as later versions have them

=cut

package WalsizerOldNodes;

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# The server's major version. Later versions return an object that compares like this number.
sub pg_version
{
	my ($major) = `pg_config --version` =~ /PostgreSQL (\d+)/;
	return $major;
}

# Sets a setting in a configuration file, replacing what stood there; undef only removes it.
sub adjust_conf
{
	my ($node, $filename, $setting, $value) = @_;
	my $path = $node->data_dir . '/' . $filename;
	my @kept = grep { !/^\s*\Q$setting\E\s*(=|\s)/ } split /^/, slurp_file($path);
	push @kept, "$setting = $value\n" if defined $value;
	open my $file, '>', $path or die "could not write \"$path\": $!";
	print $file @kept;
	close $file or die "could not write \"$path\": $!";
	return;
}

{
	no strict 'refs';    ## no critic
	foreach my $method (qw(pg_version adjust_conf))
	{
		*{"PostgreSQL::Test::Cluster::$method"} = \&{$method}
		  unless PostgreSQL::Test::Cluster->can($method);
	}
}

1;
