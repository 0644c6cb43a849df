
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerTest - shared helpers of walsizer's whole-server tests

=head1 DESCRIPTION

Three rules hold for every test built on this module.

The server log is the truth: how many checkpoints WAL forced is counted from the lines "checkpoint starting: wal",
never from what walsizer says about itself.

Nothing waits by sleeping: eventually() polls a condition, look() asks the worker's own timestamp.

A load proves itself: start_wal() writes WAL by the clock and by the LSN, so that its rate does not depend on how fast
the machine is, and wal_written() tells what really came out.

=cut

package WalsizerTest;

use strict;
use warnings;

use Exporter 'import';
use File::Path qw(rmtree);
use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);
use WalsizerOldNodes ();

our @EXPORT = qw(
  MB
  new_node start_node restart_node
  eventually soon look status rows row value grows max_wal_size auto_conf history_files decision_ids
  checkpoints forced timed requested
  start_load start_wal finish_load stop_load wal_written now_lsn
  log_since log_size log_lines
  checkpointer_counts reset_checkpointer_counts
);

use constant MB => 1024 * 1024;

# How often a condition is looked at.
use constant POLL_USEC => 100_000;

# How often the paced writer writes. Short enough that the server's own looks (50 ms at their closest) see a flow and not
# lumps.
use constant TICK => 0.05;

my (@nodes, @loads);

# Without these, a Ctrl-C would skip the END blocks and leave servers behind.
$SIG{INT} = $SIG{TERM} = sub { die "interrupted\n"; };

# Runs before the END block of PostgreSQL::Test::Cluster, which was compiled earlier. That one keeps the data directories
# of a failed test; some of ours are gigabytes, and the logs beside them tell the story. PG_TEST_NOCLEAN keeps all.
END
{
	my $exit_code = $?;
	foreach my $load (@loads)
	{
		eval { $load->{run}->kill_kill(grace => 1) } if $load->{run};
	}
	foreach my $node (@nodes)
	{
		eval { $node->stop('immediate', fail_ok => 1) };
		$node->clean_node unless defined $ENV{PG_TEST_NOCLEAN};
	}
	rmtree($ENV{PGHOST})
	  if !defined $ENV{PG_TEST_NOCLEAN} && @nodes && $ENV{PGHOST} =~ m{^/} && -d $ENV{PGHOST};
	$? = $exit_code;
}

=pod

=head1 SERVERS

=over

=item new_node($name, $settings, %options)

An initialised, not yet started server. $settings is a hash of postgresql.conf settings over the defaults below; the
special key shared_preload_libraries defaults to walsizer (use an empty string for a plain server). Options: fsync => 1
for tests about real disks, from_backup => [ $node, $name ] for a copy of another server's cold backup.

=cut

sub new_node
{
	my ($name, $settings, %option) = @_;

	my %conf = (
		shared_preload_libraries => 'walsizer',
		# %n is the time as a number of seconds, so that no test has to parse dates.
		log_line_prefix => '%n [%p] ',
		log_statement   => 'none',
		log_checkpoints => 'on',
			checkpoint_warning           => '0',
		restart_after_crash          => 'on',
		autovacuum                   => 'off',
		wal_level                    => 'replica',
		max_wal_senders              => '4',
		max_connections              => '50',
		checkpoint_timeout           => '30s',
		checkpoint_completion_target => '0.9',
		max_wal_size                 => '64MB',
		min_wal_size                 => '32MB',
		synchronous_commit           => 'off',
		fsync                        => $option{fsync} ? 'on' : 'off',
		%{ $settings // {} });

	my $node = PostgreSQL::Test::Cluster->new($name);
	push @nodes, $node;
	# The server appends to its log, and an earlier run may have left one: it would be counted, too.
	unlink $node->logfile;
	if (my $backup = $option{from_backup})
	{
		$node->init_from_backup(@$backup);
	}
	else
	{
		$node->init;
	}
	$node->append_conf('postgresql.conf',
		join('', map { "$_ = '$conf{$_}'\n" } sort keys %conf));
	return $node;
}

=pod

=item start_node($node), restart_node($node, $mode)

Start (again) a server that preloads walsizer, create the extension when it is not there yet, wait until the worker has
looked at the server once.

=cut

sub start_node
{
	my ($node) = @_;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS walsizer');
	look($node);
	return $node;
}

sub restart_node
{
	my ($node, $mode) = @_;
	$node->stop($mode);
	return start_node($node);
}

=pod

=back

=head1 QUESTIONS

=over

=item soon($code, $timeout), eventually($what, $code, $timeout)

Polls until $code returns something true and returns that. After the timeout soon() (15 s) returns the last answer, for
a test to fail on; eventually() (60 s) ends the test, for what everything that follows rests on.

=cut

sub soon
{
	my ($code, $timeout) = @_;
	my $deadline = time + ($timeout // 15);
	while (1)
	{
		my $got = $code->();
		return $got if $got || time > $deadline;
		usleep(POLL_USEC);
	}
}

sub eventually
{
	my ($what, $code, $timeout) = @_;
	return soon($code, $timeout // 60) || die "gave up waiting for: $what\n";
}

=pod

=item look($node)

Waits until the worker has looked at the server after this moment, whatever happened to it before.

=cut

sub look
{
	my ($node) = @_;
	my $now = time;
	return eventually(
		'a look of the worker',
		sub {
			my ($rc, $out) = $node->psql('postgres',
				"SELECT 1 FROM walsizer.status WHERE extract(epoch FROM sampled_at) > $now");
			return $rc == 0 && $out eq '1';
		});
}

=pod

=item rows($node, $sql), row($node, $sql), value($node, $sql), status($node)

The answer as a list of hashes, one hash, one scalar; status() is the row of walsizer.status.

=cut

sub rows
{
	my ($node, $sql) = @_;
	my $json = $node->safe_psql('postgres', "SELECT coalesce(json_agg(r), '[]') FROM ($sql) r");
	return @{ JSON::PP->new->decode($json) };
}

sub row
{
	my @rows = rows(@_);
	return $rows[0];
}

sub value
{
	my ($node, $sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

sub status
{
	my ($node) = @_;
	return row($node, 'SELECT * FROM walsizer.status');
}

# The raises, oldest first.
sub grows
{
	my ($node) = @_;
	return rows($node, q{SELECT * FROM walsizer.decisions WHERE action = 'grow' ORDER BY id});
}

sub decision_ids
{
	my ($node) = @_;
	return value($node, q{SELECT coalesce(string_agg(id || ' ' || action, ', ' ORDER BY id), '') FROM walsizer.decisions});
}

# The server's own counters: timed ones and requested ones, idle ticks included. They moved in PostgreSQL 17.
sub checkpointer_counts
{
	my ($node) = @_;
	my $sql =
	  $node->pg_version >= 17
	  ? 'SELECT num_timed, num_requested FROM pg_stat_checkpointer'
	  : 'SELECT checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter';
	return split /\|/, value($node, $sql);
}

sub reset_checkpointer_counts
{
	my ($node) = @_;
	my $target = $node->pg_version >= 17 ? 'checkpointer' : 'bgwriter';
	return value($node, "SELECT pg_stat_reset_shared('$target')");
}

# What the server runs with, in bytes, from the server and not from walsizer.
sub max_wal_size
{
	my ($node) = @_;
	return value($node, q{SELECT pg_size_bytes(current_setting('max_wal_size'))});
}

# The max_wal_size lines of postgresql.auto.conf, as text.
sub auto_conf
{
	my ($node) = @_;
	return join '', grep { /max_wal_size/ } split /^/m, slurp_file($node->data_dir . '/postgresql.auto.conf');
}

# walsizer's own files in the data directory (names relative to it).
sub history_files
{
	my ($node) = @_;
	my $dir = $node->data_dir;
	return map { substr($_, length($dir) + 1) } grep { -f && !/\.(?:tmp|damaged)$/ } glob("$dir/*walsizer* $dir/pg_stat/*walsizer*");
}

=pod

=back

=head1 THE SERVER LOG

=over

=item checkpoints($node, $since, $until), forced(...), timed(...), requested(...)

What the log says about the checkpoints that started in that time (both ends optional, seconds since 1970): hashes with
at, flags, and, once complete, distance in bytes (from the redo point before to its own). forced() are those that WAL
volume asked for; timed() those of the timer alone; requested() the rest.

=cut

sub checkpoints
{
	my ($node, $since, $until) = @_;
	my @list;
	foreach my $line (split /\n/, slurp_file($node->logfile))
	{
		if ($line =~ /^([\d.]+) .*LOG:  checkpoint starting:(.*)$/)
		{
			push @list, { at => $1, flags => $2 };
		}
		elsif ($line =~ /LOG:  checkpoint complete:.* distance=(\d+) kB/ && @list)
		{
			$list[-1]{distance} = $1 * 1024;
		}
	}
	return grep { $_->{at} >= ($since // 0) && (!defined $until || $_->{at} <= $until) } @list;
}

sub forced
{
	return grep { $_->{flags} =~ /\bwal\b/ } checkpoints(@_);
}

sub timed
{
	return grep { $_->{flags} =~ /\btime\b/ && $_->{flags} !~ /\bwal\b/ } checkpoints(@_);
}

sub requested
{
	return grep { $_->{flags} !~ /\b(?:wal|time)\b/ } checkpoints(@_);
}

sub log_size
{
	my ($node) = @_;
	return -s $node->logfile // 0;
}

sub log_since
{
	my ($node, $offset) = @_;
	return slurp_file($node->logfile, $offset // 0);
}

# The lines of the log since an offset that match.
sub log_lines
{
	my ($node, $offset, $pattern) = @_;
	return grep { /$pattern/ } split /\n/, log_since($node, $offset);
}

=pod

=back

=head1 LOADS

=over

=item start_load($node, $script, @options)

pgbench in the background with this script (undef: its built-in one). Every script line is a command of its own, so that
the session hears of reloads in between, as an application's would.

=item start_wal($node, rate => $mb_per_second, seconds => $n)

Writes WAL at exactly this rate: 20 times a second as many bytes as the LSN lacks to where it should be by now.

=item finish_load($load), stop_load($load)

Waits for its end, or ends it; returns the load, with began, ended, and wal (bytes written in between, by LSN).

=cut

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
	  value($node, 'SELECT extract(epoch FROM clock_timestamp()), pg_current_wal_insert_lsn()');
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
	return value($node, 'SELECT pg_current_wal_insert_lsn()');
}

sub wal_written
{
	my ($node, $since_lsn) = @_;
	return value($node, "SELECT pg_current_wal_insert_lsn() - '$since_lsn'");
}

=pod

=back

=cut

1;
