
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Every command and option that --help names is in the manual page and in bash's completion.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerProgram;

my $root = dirname(abs_path($0)) . '/../../..';
my $manual = slurp_file("$root/docs/walsizer.1") =~ s/\\-/-/gr;
my $completion = "$root/src/cli/walsizer.bash";

# What bash would offer after these words.
sub offers
{
	my (@words) = @_;
	my $line = join ' ', map { "'$_'" } @words;
	my $script = "source '$completion'; COMP_WORDS=($line); COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); "
	  . 'COMPREPLY=(); _walsizer; printf "%s\n" "${COMPREPLY[@]}"';
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'bash', '-c', $script ], '>', \$out, '2>', \$err) or diag $err;
	return { map { $_ =~ s/ $//r => 1 } split /\n/, $out };
}

my $help = run_program('--help');
is($help->{rc}, 0, '--help is no error');
my ($list) = $help->{out} =~ /^Subcommands:\n(.*?)(?:^\S|^\n|\z)/ms;
my @commands = $list =~ /^  (\w+)/mg;
ok(@commands >= 4, "commands: @commands");
my $offered = offers('walsizer', '');
foreach my $command (@commands)
{
	ok($offered->{$command}, "completion knows $command");
	like($manual, qr/^\.SS "?walsizer $command/m, "the manual has a section on $command");
	my $text = run_program($command, '--help')->{out};
	my @options = $text =~ /^  ((?:-\S,)?--[a-z-]+)/mg;
	ok(@options >= 8, "$command has options");
	my ($chapter) = $manual =~ /^\.SS "?walsizer $command(.*?)(?=^\.S[SH] |\z)/ms;
	my $common = $manual =~ /^\.SH OPTIONS(.*?)(?=^\.SH )/ms ? $1 : '';
	my $possible = offers('walsizer', $command, '--');
	foreach my $option (@options)
	{
		my ($long) = $option =~ /(--[a-z-]+)/;
		ok(($chapter . $common) =~ /\Q$long\E\b/, "the manual has $command $long");
		ok($possible->{$long}, "completion has $command $long");
	}
}
foreach my $file ($manual)
{
	my %option = map { $_ => 1 } join('', map { run_program($_, '--help')->{out} } @commands) =~ /(--[a-z-]+)/g;
	my @unknown = grep { !$option{$_} } $file =~ /(?<![\w-])(--[a-z][a-z-]+)/g;
	is("@unknown", '--version', 'the manual names no option that is not there')
	  or diag 'only --version belongs to the program itself';
}

SKIP:
{
	skip 'man is not here', 1 if system('man --version >/dev/null 2>&1') != 0;
	my $warnings = `MANROFFOPT= LC_ALL=C.UTF-8 MANWIDTH=80 man -l --warnings '$root/docs/walsizer.1' 2>&1 >/dev/null`;
	is($warnings, '', 'man has no warning');
}

done_testing();
