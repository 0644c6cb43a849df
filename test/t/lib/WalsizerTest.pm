
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerTest - shared helpers of walsizer's whole-server tests

=head1 DESCRIPTION

Three rules hold for every test built on this module.

The server log is the truth (see WalsizerLog): how many checkpoints WAL forced is counted there, never from what
walsizer says about itself.

Nothing waits by sleeping: eventually() polls a condition, look() asks the worker's own timestamp.

A load proves itself (see WalsizerLoad): it has a rate that does not depend on the machine, and tells what it wrote.

=cut

package WalsizerTest;

use strict;
use warnings;

use Exporter 'import';
use File::Path qw(rmtree);
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);
use WalsizerLoad;
use WalsizerLog;
use WalsizerOldNodes ();

our @EXPORT = (
	@WalsizerLoad::EXPORT,
	@WalsizerLog::EXPORT,
	qw(
	  new_node start_node restart_node
	  eventually soon look status rows row value grows max_wal_size auto_conf history_files decision_ids
	  checkpointer_counts reset_checkpointer_counts
	));

# How often a condition is looked at.
use constant POLL_USEC => 100_000;

my @nodes;

# Without these, a Ctrl-C would skip the END blocks and leave servers behind.
$SIG{INT} = $SIG{TERM} = sub { die "interrupted\n"; };

# Runs before the END block of PostgreSQL::Test::Cluster, which was compiled earlier. That one keeps the data directories
# of a failed test; some of ours are gigabytes, and the logs beside them tell the story. PG_TEST_NOCLEAN keeps all.
END
{
	my $exit_code = $?;
	WalsizerLoad::stop_all();
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
for tests about real disks, from_backup => [ $node, $name ] for a copy of another server's cold backup, install_path =>
$dir for another server version (from 14 on), extra => [ ... ] for initdb.

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

	my $node = PostgreSQL::Test::Cluster->new($name, $option{install_path} ? (install_path => $option{install_path}) : ());
	push @nodes, $node;
	# The server appends to its log, and an earlier run may have left one: it would be counted, too.
	unlink $node->logfile;
	if (my $backup = $option{from_backup})
	{
		$node->init_from_backup(@$backup);
	}
	else
	{
		$node->init(extra => $option{extra});
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

=cut

1;
