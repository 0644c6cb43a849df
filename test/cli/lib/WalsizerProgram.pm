
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerProgram - runs of the program walsizer against test servers

=head1 DESCRIPTION

=over

=item program()

The program under test: $WALSIZER, else the one beside the server's programs.

=item run_program(@arguments), run_at($node, @arguments)

Runs it to its end; a hash of rc, out, err. run_at() connects to a server's database postgres.

=item start_program($node, @arguments), finish_program($run)

The same in the background. start_program() returns when its session is on the server.

=item signal_program($run, $signal)

=item json_of($run)

The standard output, decoded.

=back

=cut

package WalsizerProgram;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;

our @EXPORT = qw(program run_program run_at start_program finish_program signal_program json_of);

my @runs;

END
{
	my $exit_code = $?;
	foreach my $run (grep { $_->{handle} } @runs)
	{
		eval { $run->{handle}->kill_kill(grace => 1) };
	}
	$? = $exit_code;
}

sub program
{
	return $ENV{WALSIZER} if defined $ENV{WALSIZER};
	my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
	chomp $bindir;
	return "$bindir/walsizer";
}

sub run_program
{
	my (@arguments) = @_;
	my %run = (out => '', err => '');
	my $handle = IPC::Run::start([ program(), @arguments ], '<', \undef, '>', \$run{out}, '2>', \$run{err},
		IPC::Run::timeout(180));
	$handle->finish;
	$run{rc} = $? >> 8;
	return \%run;
}

sub run_at
{
	my ($node, $command, @arguments) = @_;
	return run_program($command, $node->connstr('postgres'), '--no-password', @arguments);
}

sub start_program
{
	my ($node, $command, @arguments) = @_;
	my %run = (out => '', err => '');
	my $sessions = sub {
		return $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'walsizer'");
	};
	my $before = $sessions->();
	# PostgreSQL's test framework names sessions after the test.
	delete local $ENV{PGAPPNAME};
	$run{handle} = IPC::Run::start([ program(), $command, $node->connstr('postgres'), @arguments ],
		'<', \undef, '>', \$run{out}, '2>', \$run{err}, IPC::Run::timeout(180));
	push @runs, \%run;
	eventually('the program to connect', sub { $sessions->() > $before });
	return \%run;
}

sub finish_program
{
	my ($run) = @_;
	my $handle = delete $run->{handle};
	$handle->finish;
	$run->{rc} = $? >> 8;
	return $run;
}

sub signal_program
{
	my ($run, $signal) = @_;
	$run->{handle}->signal($signal);
	return;
}

sub json_of
{
	my ($run) = @_;
	my $json = eval { JSON::PP->new->decode($run->{out}) };
	fail("JSON on standard output: $@ $run->{out} $run->{err}") unless defined $json;
	return $json // {};
}

1;
