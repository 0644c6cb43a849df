
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerLoad - loads that write WAL, for whole-server tests; WalsizerTest exports all of it

=head1 DESCRIPTION

A load proves itself: start_wal() writes WAL by the clock and by the LSN, so that its rate does not depend on how fast
the machine is, and wal_written() tells what really came out.

=over

=item start_load($node, $script, @options)

pgbench in the background with this script (undef: its built-in one). Every script line is a command of its own, so that
the session hears of reloads in between, as an application's would.

=item start_wal($node, rate => $mb_per_second, seconds => $n)

Writes WAL at exactly this rate: 20 times a second as many bytes as the LSN lacks to where it should be by now.

=item finish_load($load), stop_load($load)

Waits for its end, or ends it; returns the load, with began, ended, and wal (bytes written in between, by LSN).

=back

=cut

package WalsizerLoad;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

our @EXPORT = qw(MB start_load start_wal finish_load stop_load wal_written now_lsn);

use constant MB => 1024 * 1024;

# How often the paced writer writes. Short enough that the server's own looks (50 ms at their closest) see a flow and not
# lumps.
use constant TICK => 0.05;

my @loads;

# Called at the end of the test, before its servers stop.
sub stop_all
{
	foreach my $load (grep { $_->{run} } @loads)
	{
		eval { $load->{run}->kill_kill(grace => 1) };
	}
	return;
}

sub start_load
{
	my ($node, $script, @options) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my @cmd = ('pgbench', '-n', '-h', $node->host, '-p', $node->port, @options);
	if (defined $script)
	{
		append_to_file("$dir/script.sql", $script);
		push @cmd, '-f', "$dir/script.sql";
	}
	my %load = (
		node => $node,
		out  => "$dir/pgbench.out",
		cmd  => "@cmd",
		lsn  => now_lsn($node));
	$load{began} = time;
	$load{run} = IPC::Run::start([ @cmd, 'postgres' ], '<', \undef, '>', $load{out}, '2>&1');
	push @loads, \%load;
	return \%load;
}

sub start_wal
{
	my ($node, %want) = @_;
	my $bytes = int($want{rate} * MB);
	# :start and :lsn come with -D. The last term keeps a late start from writing one huge record.
	my $script = q{
\set n :n + 1
SELECT pg_sleep(greatest(0, :start + :n * :tick - extract(epoch FROM clock_timestamp())));
SELECT pg_logical_emit_message(false, 'load', repeat('x', greatest(0, least(16000000,
    floor(:rate::numeric * :n * :tick) - (pg_current_wal_insert_lsn() - ':lsn'::pg_lsn)))::int));
};
	my ($start, $lsn) = split /\|/,
	  $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp()), pg_current_wal_insert_lsn()');
	return start_load(
		$node, $script,
		-t => int($want{seconds} / TICK + 0.5),
		map { ('-D', $_) } ("start=$start", "lsn=$lsn", 'n=0', 'tick=' . TICK, "rate=$bytes"));
}

sub finish_load
{
	my ($load) = @_;
	my $ok  = $load->{run}->finish;
	my $out = slurp_file($load->{out});
	die "$load->{cmd} failed:\n$out" if !$ok;
	($load->{tps}) = $out =~ /^tps = ([\d.]+)/m;
	return _ended($load);
}

sub stop_load
{
	my ($load) = @_;
	$load->{run}->kill_kill(grace => 1);
	return _ended($load);
}

sub _ended
{
	my ($load) = @_;
	$load->{run}   = undef;
	$load->{ended} = time;
	$load->{wal}   = wal_written($load->{node}, $load->{lsn});
	return $load;
}

sub now_lsn
{
	my ($node) = @_;
	return $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
}

sub wal_written
{
	my ($node, $since_lsn) = @_;
	return $node->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() - '$since_lsn'");
}

1;
