
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The files in monitoring/: the exporter's queries answer a role that has pg_monitor alone, with the columns that they
# promise; rules and dashboard use no other series. With a real exporter and Prometheus: scripts/monitoring.sh.

use strict;
use warnings;

use JSON::PP;
use Test::More;
use PostgreSQL::Test::Utils;
use WalsizerTest;

# The exporter's file, as far as it is used here: per namespace the query and the usage of each column.
sub exporter_queries
{
	my (%space, $name, $in_query, $column);
	foreach my $line (split /\n/, slurp_file('monitoring/walsizer-queries.yaml'))
	{
		if ($line =~ /^(\w+):$/) { $name = $1; $in_query = 0; }
		elsif ($line =~ /^  query: (\|?)(.*)$/) { $space{$name}{query} = $2; $in_query = $1; }
		elsif ($line =~ /^  \w+:/) { $in_query = 0; }
		elsif ($in_query) { $space{$name}{query} .= "$line\n"; }
		elsif ($line =~ /^    - (\w+):$/) { $column = $1; }
		elsif ($line =~ /^        usage: (\w+)$/) { $space{$name}{columns}{$column} = $1; }
	}
	return %space;
}

my %space = exporter_queries();
my %series = (pg_up => 1); # the exporter's own
my $node = new_node('main');
start_node($node);
value($node, 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor');

foreach my $name (sort keys %space)
{
	my %columns = %{ $space{$name}{columns} };
	$series{"${name}_$_"} = 1 foreach grep { $columns{$_} ne 'LABEL' } keys %columns;
	my ($rc, $out, $err) = $node->psql(
		'postgres', "$space{$name}{query};",
		extra_params => [ '-U', 'watcher', '-P', 'tuples_only=off', '-P', 'footer=off' ]);
	is($rc, 0, "$name answers a member of pg_monitor") or diag($err);
	my @lines = split /\n/, $out;
	is_deeply([ sort split /\|/, $lines[0] ], [ sort keys %columns ], "$name has the columns that it promises");
	next if $name eq 'walsizer_holder'; # nobody holds WAL yet
	cmp_ok(@lines, '>', 1, "$name has rows");
	cmp_ok(scalar(grep { $columns{$_} eq 'LABEL' } keys %columns), '==', @lines > 2 ? 1 : 0,
		"$name: several rows only where a label tells them apart");
}

# What a holder is called does not change with each segment: that would be a new series every time.
$node->append_conf('postgresql.conf', "archive_mode = on\narchive_command = 'false'");
$node->restart;
value($node, 'SELECT pg_switch_wal()');
value($node, 'CHECKPOINT');
eventually('an archiver that fails to hold WAL',
	sub { value($node, q{SELECT coalesce(wal_held_by ~ '^archiver \([0-9]+ segment', false) FROM walsizer.status}) eq 't' });
is(value($node, "SELECT holder FROM ($space{walsizer_holder}{query}) AS series"), 'archiver', 'its label is one word');

# Every state that the worker can be in has a series.
my ($documented) = value($node, q{SELECT col_description('walsizer.status'::regclass, 1)});
foreach my $state ($documented =~ /([a-z_]+)(?: \([^)]*\))?(?:,|$)/g)
{
	like($space{walsizer}{query}, qr/'$state'/, "the state $state has a series");
}

my $rules = slurp_file('monitoring/walsizer-alerts.yaml');
my $dashboard = decode_json(slurp_file('monitoring/walsizer-dashboard.json'));
my %used = (
	'the alert rules' => $rules =~ s/^ *(?:summary|description):.*?(?=^ *- alert:|\z)//gmsr,
	'the dashboard' => join(' ', map { $_->{expr} } map { @{ $_->{targets} } } @{ $dashboard->{panels} }));
foreach my $file (sort keys %used)
{
	my %names = map { $_ => 1 } $used{$file} =~ /\b((?:walsizer|pg)_\w+)/g;
	cmp_ok(keys %names, '>=', 5, "$file: found the series that it uses");
	is_deeply([ grep { !$series{$_} } sort keys %names ], [], "$file: no series that nobody delivers");
}

SKIP:
{
	skip 'no promtool here', 2 if system('promtool --version >/dev/null 2>&1') != 0;
	is(system('promtool check rules monitoring/walsizer-alerts.yaml >&2'), 0, 'promtool check rules');
	is(system('cd monitoring && promtool test rules walsizer-alerts-test.yaml >&2'), 0, 'promtool test rules');
}

done_testing();
