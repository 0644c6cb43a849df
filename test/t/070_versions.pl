
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# One version, in every place that has to tell it. walsizer.control is the source; PGXN wants three numbers.
use strict;
use warnings;
use JSON::PP;
use Test::More;

sub content
{
	my ($file) = @_;
	open my $handle, '<', $file or die "$file: $!";
	local $/;
	return <$handle>;
}

# found FILE, PATTERN: what the pattern's group matches; the test fails where it matches nothing
sub found
{
	my ($file, $pattern) = @_;
	my ($version) = content($file) =~ $pattern;
	ok(defined $version, "$file has a version");
	return $version // '';
}

my $version = found('walsizer.control', qr/^default_version = '(.*)'$/m);
my $three = $version =~ /^\d+\.\d+$/ ? "$version.0" : $version;
like($three, qr/^\d+\.\d+\.\d+$/, 'it has two or three numbers');
ok(-e "sql/walsizer--$version.sql", "sql/walsizer--$version.sql installs it");
like(content("sql/walsizer--$version.sql"), qr/\A\/\* walsizer \Q$version\E:/, 'and says so');

my $meta = decode_json(content('META.json'));
is($meta->{version}, $three, 'META.json');
is($meta->{provides}{walsizer}{version}, $three, 'META.json, the extension');
is($meta->{provides}{walsizer}{file}, "sql/walsizer--$version.sql", 'META.json, the file');

is(found('debian/changelog', qr/\Awalsizer \(([^)]*)-\d+\) /), $version, 'debian/changelog');
is(found('docs/install.md', qr/-walsizer_([^_]*)-\d+_\*\.deb/), $version, 'the package that docs/install.md installs');
is(found('docs/install.md', qr/`walsizer-([\d.]+)\.zip`/), $three, 'and the archive that it names');
is(found('CHANGELOG.md', qr/^## \[(\d[\d.]*)\]/m), $version, 'CHANGELOG.md');
is(found('packaging/walsizer.spec', qr/^Version:\s+(\S+)$/m), $version, 'packaging/walsizer.spec');
my ($rpm) = content('packaging/walsizer.spec') =~ /^%changelog\n.* - (\S+)-\d+$/m;
is($rpm, $version, "the spec's changelog");

SKIP:
{
	my ($program) = grep { -x } qw(build/walsizer build/checked/walsizer);
	skip 'the program is not built here', 1 unless $program;
	is(qx($program --version), "walsizer $version\n", "$program --version");
}

done_testing();
