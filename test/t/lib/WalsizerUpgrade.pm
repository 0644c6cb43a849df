
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerUpgrade - the extension's releases: their SQL scripts, what is in them, what CREATE and ALTER EXTENSION make of them

=cut

package WalsizerUpgrade;

use strict;
use warnings;

use Exporter 'import';
use File::Path qw(make_path);
use FindBin;
use PostgreSQL::Test::Utils;
use WalsizerTest;

our @EXPORT = qw(
  source_file private_installation releases install_scripts upgrade_scripts default_version
  entry_points exported_symbols extension_objects differences read_everything
);

=pod

=over

=item source_file($name)

A file of the source tree, as a path.

=cut

sub source_file
{
	my ($name) = @_;
	return "$FindBin::RealBin/../../$name";
}

=pod

=item private_installation()

A copy of the server's programs beside links to its files: from here on this test's servers run from there, and its extension
directory, which is returned, is this test's alone.

=cut

sub private_installation
{
	my $root = PostgreSQL::Test::Utils::tempdir;
	my %dir  = map { chomp(my $path = `pg_config --$_`); $_ => $path } qw(bindir pkglibdir sharedir);
	make_path(map { "$root$_" } values %dir);
	system_or_bail('cp', '-Lr', "$dir{bindir}/.", "$root$dir{bindir}");
	system_or_bail('cp', '-rs', "$dir{$_}/.", "$root$dir{$_}") foreach qw(pkglibdir sharedir);
	$ENV{PATH} = "$root$dir{bindir}:$ENV{PATH}";
	return "$root$dir{sharedir}/extension";
}

=pod

=item releases(), install_scripts(), upgrade_scripts(), default_version()

Released versions by CHANGELOG.md; the paths in sql/ by version, and by "from--to"; the version of walsizer.control.

=cut

sub releases
{
	# 1.2.0 and 1.2.1 have the same SQL, 1.2.
	my %releases = map { $_ => 1 } slurp_file(source_file('CHANGELOG.md')) =~ /^## \[(\d+\.\d+)[\d.]*\]/mg;
	return sort keys %releases;
}

sub install_scripts
{
	return map { /walsizer--([\d.]+)\.sql$/ ? ($1 => $_) : () } glob(source_file('sql/*.sql'));
}

sub upgrade_scripts
{
	return map { /walsizer--([\d.]+--[\d.]+)\.sql$/ ? ($1 => $_) : () } glob(source_file('sql/*.sql'));
}

sub default_version
{
	my ($version) = slurp_file(source_file('walsizer.control')) =~ /^default_version = '(.*)'/m;
	return $version;
}

=pod

=item entry_points($path), exported_symbols($library)

The C functions that a script wants, and those that a library has, with PostgreSQL's record of their calling convention.

=cut

sub entry_points
{
	my ($path) = @_;
	my %symbols = map { $_ => 1 } slurp_file($path) =~ /'MODULE_PATHNAME',\s*'(\w+)'/g;
	return sort keys %symbols;
}

sub exported_symbols
{
	my ($library) = @_;
	my %symbols = map { $_ => 1 } `nm --dynamic --defined-only '$library'` =~ /^\S+ T (\w+)$/mg;
	return grep { $symbols{"pg_finfo_$_"} } keys %symbols;
}

=pod

=item extension_objects($node, $database)

Everything that belongs to the extension, as text by name: definitions, columns, comments, privileges.

=cut

sub extension_objects
{
	my ($node, $database) = @_;
	my $sql = q{
		SELECT pg_describe_object(classid, objid, 0) || E'\x01' || replace(concat_ws(' | ',
			obj_description(objid, classid::regclass::name),
			CASE classid
			WHEN 'pg_proc'::regclass THEN (
				SELECT concat_ws(' ', pg_get_functiondef(oid), 'owner', proowner::regrole,
					(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(proacl) a))
				FROM pg_proc WHERE oid = objid)
			WHEN 'pg_class'::regclass THEN (
				SELECT concat_ws(' ', relkind, pg_get_viewdef(oid), reloptions::text, 'owner', relowner::regrole,
					(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(relacl) a),
					(SELECT string_agg(concat_ws(' ', attname, atttypid::regtype, col_description(attrelid, attnum), attacl::text), ', ' ORDER BY attnum)
					 FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped))
				FROM pg_class WHERE oid = objid)
			WHEN 'pg_namespace'::regclass THEN (
				SELECT concat_ws(' ', 'owner', nspowner::regrole, (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(nspacl) a))
				FROM pg_namespace WHERE oid = objid)
			END), E'\n', ' ')
		FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
			AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'walsizer')};
	# The extension's own schema is not a member of it.
	$sql .= q{
		UNION ALL SELECT 'schema itself' || E'\x01' || concat_ws(' ', obj_description(oid, 'pg_namespace'), nspowner::regrole,
			(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(nspacl) a))
		FROM pg_namespace WHERE nspname = 'walsizer'};
	return map { split /\x01/, $_, 2 } split /\n/, $node->safe_psql($database, $sql);
}

# What one has and the other has not, or not in the same way.
sub differences
{
	my ($one, $other) = @_;
	my %names = (%$one, %$other);
	return map { "$_: " . ($one->{$_} // 'missing') . ' <> ' . ($other->{$_} // 'missing') }
	  grep { ($one->{$_} // '') ne ($other->{$_} // '') } sort keys %names;
}

=pod

=item read_everything($node, $database)

Reads each view of the installed version through the library; returns their number.

=cut

sub read_everything
{
	my ($node, $database) = @_;
	my @views = split /\n/, $node->safe_psql($database, q{SELECT viewname FROM pg_views WHERE schemaname = 'walsizer'});
	$node->safe_psql($database, "SELECT * FROM walsizer.$_") foreach @views;
	return scalar(@views);
}

=pod

=back

=cut

1;
