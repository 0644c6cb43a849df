
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# PostgreSQL 14 and 16 are not at hand to compile with. What they would compile is looked at instead: the server's version
# is asked for in compat.hpp alone, and each line there that 14 or 16 gets is also got by a neighbour that is tested, 13 or
# 15, and 15 or 17.

use strict;
use warnings;

use File::Find qw(find);
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

use constant OLDEST => 13;
use constant NEWEST => 19;
my %neighbours = (14 => [ 13, 15 ], 16 => [ 15, 17 ]);

my $top    = "$FindBin::RealBin/../..";
my $compat = 'src/extension/compat.hpp';
my $source = slurp_file("$top/$compat");

subtest 'the version is asked for in one place' => sub {
	my @files;
	find({ no_chdir => 1, wanted => sub { push @files, substr($_, length($top) + 1) if -f && /\.[ch]pp$/ } }, "$top/src", "$top/include");
	cmp_ok(scalar(@files), '>', 50, @files . ' files of C++');
	# Comments may name it.
	my $asks = qr/PG_VERSION_NUM|PG_MAJORVERSION|PG_VERSION\b|CATALOG_VERSION_NO|PG_CONTROL_VERSION/;
	my @found = grep { (slurp_file("$top/$_") =~ s{//[^\n]*}{}gr) =~ $asks } sort @files;
	is_deeply(\@found, [$compat], 'and no other');
	unlike(slurp_file("$top/Makefile"), qr/\$\((?:MAJORVERSION|VERSION_NUM|VERSION)\)/, 'nor the Makefile');
};

subtest 'between major versions only' => sub {
	my @asked = (my $code = $source =~ s{//[^\n]*}{}gr) =~ /PG_VERSION_NUM\s*(\S+\s+\S+)/g;
	@asked = grep { /^[<>=!]/ } @asked;
	cmp_ok(scalar(@asked), '>', 15, @asked . ' questions');
	is_deeply([ grep { !/^(?:>=|<) 1[3-9]0000$/ } map { s/;$//r } @asked ], [], 'each at a major version');
};

# What the compiler's first half makes of the header for a version: its lines, with the names of the files it includes.
sub lines_for
{
	my ($major) = @_;
	my $text = $source =~ s/^#include/INCLUDED/mgr;
	my $file = PostgreSQL::Test::Utils::tempdir . '/compat.hpp';
	append_to_file($file, $text);
	my $compiler = $ENV{CXX} // 'g++';
	# -P: no line numbers; -dD: definitions, too. The compiler's own ones are left out.
	my @lines = grep { !/^#(?:define|undef) (?!WALSIZER_)/ && /\S/ }
	  split /\n/, `$compiler -x c++ -std=c++20 -E -P -dD -DPG_VERSION_NUM=${major}0003 '$file'`;
	is($?, 0, "$major: preprocessed");
	return @lines;
}

sub names { my %names = map { $_ => 1 } map { /\b(walsizer_\w+|WALSIZER_\w+)(?:\(| = | \d| PG_)/g } @_; return \%names; }

my %lines = map { $_ => [ lines_for($_) ] } OLDEST .. NEWEST;
my %names = map { $_ => names(@{ $lines{$_} }) } keys %lines;

foreach my $major (sort keys %neighbours)
{
	my ($before, $after) = @{ $neighbours{$major} };
	my %known = map { $_ => 1 } map { @{ $lines{$_} } } $before, $after;
	my @alone = grep { !$known{$_} && !/\b\Q${major}0003\E\b/ } @{ $lines{$major} };
	is_deeply(\@alone, [], "$major: every line is compiled on $before or $after, too");
	my @missing = grep { $names{$after}{$_} && !$names{$major}{$_} } sort keys %{ $names{$before} };
	is_deeply(\@missing, [], "$major: nothing is missing that $before and $after both have");
	cmp_ok(scalar(keys %{ $names{$major} }), '>=', 15, "$major: " . keys(%{ $names{$major} }) . ' names');
}
# The comparison can tell: neighbours do differ.
my %of_13 = map { $_ => 1 } @{ $lines{13} };
cmp_ok(scalar(grep { !$of_13{$_} } @{ $lines{15} }), '>', 10, '15 has lines that 13 has not');

done_testing();
