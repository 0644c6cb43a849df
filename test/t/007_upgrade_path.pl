
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# ALTER EXTENSION walsizer UPDATE from every release ends where CREATE EXTENSION begins, and the SQL of every release works
# with this library, also without that update. An invented older release shows that the comparison sees what it should.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;
use WalsizerUpgrade;

my $now     = default_version();
my %install = install_scripts();
my %upgrade = upgrade_scripts();
my $dir     = private_installation();
my $node    = new_node('main', { checkpoint_timeout => '1h' });
$node->start;
# PostgreSQL starts the worker a moment after it lets sessions in.
$node->safe_psql('postgres', 'CREATE EXTENSION walsizer');
look($node);
my %fresh = extension_objects($node, 'postgres');

# From a release's own script to the present version; returns what is then unlike a fresh one.
my $databases = 0;
sub walk
{
	my ($from) = @_;
	my $database = 'walk' . ++$databases;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION walsizer VERSION '$from'");
	cmp_ok(read_everything($node, $database), '>=', 5, "$from: its views work with this library");
	is($node->psql($database, 'SELECT walsizer.evaluate()'), 0, "$from: it can act");
	$node->safe_psql($database, 'ALTER EXTENSION walsizer UPDATE');
	is($node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'walsizer'}), $now, "$from: updated to $now");
	my %updated = extension_objects($node, $database);
	return differences(\%updated, \%fresh);
}

subtest 'a fresh one' => sub {
	cmp_ok(scalar(keys %fresh), '>=', 15, scalar(keys %fresh) . ' objects');
	is($node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'walsizer'}), $now, "version $now");
	ok($install{$now}, 'its script is in sql/');
	is(scalar(grep { /function walsizer.undo/ } keys %fresh), 1, 'functions');
	my $view = $fresh{'view walsizer.status'} // '';
	like($view, qr/\bstate text starting, tuning/, 'views with the comments of their columns');
	like($view, qr/\bpg_monitor=r/, 'and privileges');
};

subtest 'every release' => sub {
	my $walked = 0;
	my %all = map { $_ => 1 } releases(), keys %install;
	foreach my $release (sort keys %all)
	{
		ok($install{$release}, "$release: its script is kept in sql/") or next;
		next if $release eq $now;
		is_deeply([ walk($release) ], [], "$release: after the update like a fresh one");
		$walked++;
	}
	is($walked, keys(%install) - 1, "$walked older releases");
	# Each script can be reached: an update that starts nowhere would never be tried.
	foreach my $step (keys %upgrade)
	{
		my ($from) = split /--/, $step;
		ok($install{$from}, "$step begins at a release");
	}
};

subtest 'the library has what every script wants' => sub {
	chomp(my $libdir = `pg_config --pkglibdir`);
	my %has = map { $_ => 1 } exported_symbols("$libdir/walsizer.so");
	cmp_ok(scalar(keys %has), '>=', 10, 'it exports ' . keys(%has) . ' functions');
	foreach my $script (values %install, values %upgrade)
	{
		my @wants = entry_points($script);
		is_deeply([ grep { !$has{$_} } @wants ], [], ($script =~ s{.*/}{}r) . ': all ' . @wants . ' of them');
	}
	my @present = entry_points($install{$now});
	cmp_ok(scalar(@present), '>=', 10, "the present version's are @present");
	ok(!$has{walsizer_no_such_function}, 'one that is not there would be missed');
};

# ---- An older release that never was: no shrink(), fewer columns, other words --------------------------------------

my $sql = slurp_file($install{$now});
my ($shrink) = $sql =~ /^(CREATE FUNCTION walsizer\.shrink\(\).*?;\nCOMMENT ON FUNCTION walsizer\.shrink\(\).*?;\n)/ms
  or die 'no shrink()';
my ($get_windows) = $sql =~ /^(CREATE FUNCTION walsizer\.get_windows\(.*?;\n)/ms or die 'no get_windows()';
my @comments = $sql =~ /^(COMMENT ON (?:COLUMN|VIEW|FUNCTION) walsizer\.(?:get_)?windows[. (].*?;\n)/mg;
my $old = $sql;
$old =~ s/\Q$shrink\E//;
$old =~ s/(OUT buffers_written bigint),[^)]*\)/$1)/ or die 'no column to leave out';
my ($left_out) = $get_windows =~ /OUT buffers_written bigint,\s*OUT (\w+)/;
$old =~ s/^COMMENT ON COLUMN walsizer\.windows\.(?!fpi_bytes)\w+ .*?;\n//mg;
append_to_file("$dir/walsizer--0.9.sql", $old);

my $update = join '', $shrink, "DROP VIEW walsizer.windows;\nDROP FUNCTION walsizer.get_windows();\n", $get_windows,
  "CREATE VIEW walsizer.windows AS SELECT * FROM walsizer.get_windows();\n", @comments, q{
REVOKE ALL ON walsizer.windows FROM PUBLIC;
REVOKE ALL ON FUNCTION walsizer.get_windows(), walsizer.shrink() FROM PUBLIC;
GRANT SELECT ON walsizer.windows TO pg_monitor;
};
my $grant = "GRANT EXECUTE ON FUNCTION walsizer.get_windows() TO pg_monitor;\n";

sub new_update
{
	my ($text) = @_;
	unlink "$dir/walsizer--0.9--$now.sql";
	append_to_file("$dir/walsizer--0.9--$now.sql", $text);
	return walk('0.9');
}

subtest 'an invented release 0.9' => sub {
	is_deeply([ new_update($update . $grant) ], [], 'a whole update ends like a fresh one');
	unlike($old, qr/\b$left_out\b/, "0.9 has no column $left_out");
	# Each of these is an update that somebody might write.
	my @found = new_update($update);
	is(scalar(@found), 1, 'a forgotten GRANT is found');
	like($found[0] // '', qr/get_windows/, 'by name');
	@found = new_update($update . $grant . "COMMENT ON FUNCTION walsizer.shrink() IS 'take back';\n");
	like("@found", qr/^function walsizer.shrink\(\): take back/, 'another comment is found');
	@found = new_update($update . $grant . "DROP FUNCTION walsizer.shrink();\n");
	like("@found", qr/^function walsizer.shrink\(\): missing/, 'a missing function is found');
	@found = new_update($update . $grant . "CREATE FUNCTION walsizer.left_over() RETURNS int LANGUAGE sql AS 'SELECT 1';\n");
	like("@found", qr/^function walsizer.left_over\(\): .* <> missing$/, 'one too many is found');
};

done_testing();
