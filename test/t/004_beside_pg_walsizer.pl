
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Two libraries that define the same settings would keep the server from starting. With pg_walsizer preloaded too, in
# whatever order and spelling, walsizer defines nothing, does nothing, and says so. The other library is a stand-in
# built here: it defines and reserves what the real one does.

use strict;
use warnings;

use Config;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;

sub pg_config
{
	my ($what) = @_;
	my $out = `pg_config --$what`;
	chomp $out;
	return $out;
}

# The C compiler, or nothing.
sub compiler
{
	my ($of_the_server) = split ' ', pg_config('cc');
	foreach my $compiler ($ENV{CC}, $of_the_server, 'cc', 'gcc', 'clang')
	{
		return $compiler if defined $compiler && eval { run_log([ $compiler, '--version' ]) };
	}
	return;
}

# Returns the directory that holds pg_walsizer.so.
sub build_stand_in
{
	my ($compiler) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir;
	append_to_file("$dir/pg_walsizer.c", <<'C');
#include "postgres.h"
#include <limits.h>
#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;
void _PG_init(void);

static bool enable;
static int max_size;
static int threshold;

void
_PG_init(void)
{
	DefineCustomBoolVariable("walsizer.enable", "", NULL, &enable, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("walsizer.max", "", NULL, &max_size, 4096, 2, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("walsizer.threshold", "", NULL, &threshold, 2, 1, 1000, PGC_SIGHUP, 0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("walsizer");
#else
	EmitWarningsOnPlaceholders("walsizer");
#endif
}
C
	run_log(
		[   $compiler, '-shared', '-fPIC', '-w', '-I' . pg_config('includedir-server'),
			'-o', "$dir/pg_walsizer.$Config{dlext}", "$dir/pg_walsizer.c" ])
	  or die "the stand-in for pg_walsizer does not compile\n";
	return $dir;
}

my $compiler = compiler();
if (!defined $compiler)
{
	plan skip_all => 'NO COMPILER: the stand-in for pg_walsizer cannot be built, so living beside it stays UNTESTED';
}
my $dir = build_stand_in($compiler);

my @functions = qw(recommend evaluate undo resume reset);

my $node = new_node('main', { dynamic_library_path => "\$libdir:$dir" });

foreach my $libraries ('pg_walsizer, walsizer', 'walsizer, pg_walsizer', "walsizer, $dir/pg_walsizer",
	'"$libdir/walsizer", pg_walsizer')
{
	subtest "shared_preload_libraries = '$libraries'" => sub {
		my $offset = log_size($node);
		$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'$libraries'");
		ok($node->start(fail_ok => 1), 'the server starts') or return;

		my @warnings = log_lines($node, $offset, qr/WARNING:.*walsizer/);
		is(scalar(@warnings), 1, 'one warning') or diag(explain(\@warnings));
		like($warnings[0] // '', qr/(?<!pg_)walsizer.*pg_walsizer|pg_walsizer.*(?<!pg_)walsizer/, 'it names both libraries');

		value($node, 'CREATE EXTENSION IF NOT EXISTS walsizer');
		my $status = status($node);
		is($status->{state}, 'inactive', 'state');
		like($status->{reason}, qr/pg_walsizer/, 'the reason names the other library');
		like($status->{reason}, qr/(?<!pg_)walsizer/, 'and this one');

		foreach my $function (@functions)
		{
			my ($rc, undef, $err) = $node->psql('postgres', "SELECT * FROM walsizer.$function()");
			isnt($rc, 0, "$function() fails");
			like($err, qr/pg_walsizer/, "$function() names the other library");
			like($err, qr/(?<!pg_)walsizer(?!\.)/, "$function() names this one");
		}

		is(value($node, 'SHOW walsizer.threshold'), '2', 'the settings are those of the other library');
		is( value($node, q{SELECT count(*) FROM pg_settings WHERE name LIKE 'walsizer.%'}), 3, 'and only those');
		is( value($node, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'walsizer'}), 0, 'no worker of ours runs');
		$node->stop;
	};
}

subtest 'alone again it works' => sub {
	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'walsizer'");
	start_node($node);
	is(status($node)->{state}, 'tuning', 'state');
};

done_testing();
