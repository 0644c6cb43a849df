
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The program's commands in README.md, as they stand there, but for the server, its log and the time to watch.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerProgram;
use WalsizerTest;

my $readme = slurp_file(dirname(abs_path($0)) . '/../../../README.md');
my ($block) = $readme =~ m{^<!-- run by: test/cli/t/014_readme\.pl -->\n```sh\n(.*?)^```$}ms;
my @commands = map { s/\s+#.*//r } split /\n/, $block // '';
cmp_ok(scalar(@commands), '>=', 5, 'README.md has commands');

my $node = start_node(new_node('shown', {}));
my ($host, $log) = ($node->host, $node->logfile);
local @ENV{qw(PGPORT PGDATABASE)} = ($node->port, 'postgres');
local $ENV{PGHOST} = $host;
my $folder = PostgreSQL::Test::Utils::tempdir();

foreach my $shown (@commands)
{
	my $command = $shown;
	$command =~ s/^walsizer\b/program()/e or next;
	$command =~ s/ -h db1 / -h $host /;
	$command =~ s/ --for 10min\b/ --for 3s/;
	$command =~ s{/var/log/postgresql/\*\.log}{$log};
	$command =~ s/ watch$/ watch --count 2/; # it has no end of its own
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'bash', '-c', "cd '$folder' && $command" ], '<', \undef, '>', \$out, '2>', \$err,
		IPC::Run::timeout(180));
	cmp_ok($? >> 8, '<=', 1, "$shown: an answer") or diag $err;
	cmp_ok(length($out) + (-s "$folder/report.html" // 0), '>', 100, '... and something to read') or diag $out;
}
ok(-s "$folder/report.html", 'the report is written');

done_testing();
