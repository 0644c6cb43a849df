# Runs the program and reads what it prints.
package Program;

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use IPC::Run ();
use JSON::PP ();

our @EXPORT = qw(walsizer advise_log at_terminal write_file);

my $program = $ENV{WALSIZER} || 'build/checked/walsizer';
my $directory = File::Temp->newdir('walsizer-cli-XXXXXX', TMPDIR => 1);
my $files = 0;

# (exit status, standard output, standard error); the last argument may be a reference to standard input.
sub walsizer
{
	my @arguments = @_;
	my $input = ref $arguments[-1] ? ${ pop @arguments } : '';
	my ($output, $error) = ('', '');
	local $ENV{TERM} = 'xterm';
	IPC::Run::run([ $program, @arguments ], '<', \$input, '>', \$output, '2>', \$error);
	my $status = $? & 127 ? -($? & 127) : $? >> 8;
	return ($status, $output, $error);
}

# (what `advise --log` says as JSON, decoded; exit status; standard error)
sub advise_log
{
	my ($status, $output, $error) = walsizer('advise', '--format', 'json', '--log', @_);
	my $answer = $output ne '' ? JSON::PP->new->utf8->decode($output) : undef;
	return ($answer, $status, $error);
}

# What it shows at a terminal; undef where script(1) is missing, which makes one.
sub at_terminal
{
	my ($output, $error) = ('', '');
	return undef if system('script --version >/dev/null 2>&1') != 0;
	my $command = join ' ', map { "'$_'" } $program, @_;
	local $ENV{TERM} = 'xterm';
	IPC::Run::run([ 'script', '--quiet', '--command', $command, '/dev/null' ], '<', \undef, '>', \$output, '2>', \$error);
	return $output;
}

# A file with that content; its name may matter.
sub write_file
{
	my ($content, $name) = @_;
	my $path = "$directory/" . ($name // 'file' . ++$files . '.log');
	open my $file, '>', $path or die "$path: $!";
	binmode $file;
	print $file $content;
	close $file or die "$path: $!";
	return $path;
}

1;
