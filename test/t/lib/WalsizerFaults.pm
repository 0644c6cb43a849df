
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerFaults - helpers for tests that put something in walsizer's way, or break the server under it

=cut

package WalsizerFaults;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WalsizerTest;

our @EXPORT = qw(
  conf_file write_file line_of press is_blocked goes_on back_to_start warnings
  start_with stop_postmaster continue_postmaster kill_and_start crash_backend lsn_bytes
);

my %stopped;

# Before servers are shut down: a stopped one would never answer.
END { kill 'CONT', keys %stopped }

# Enough to force a checkpoint every two seconds at 64MB, and no more: the machine has other things to do.
use constant RATE => 16;

# A busy machine, and walsizer's own look at an obstacle every 10 s.
use constant PATIENCE => 60;

=pod

=over

=item conf_file($node, $name), write_file($path, $text), line_of($path, qr//)

=cut

sub conf_file
{
	my ($node, $name) = @_;
	return $node->data_dir . "/$name";
}

# The number of the last line that matches.
sub line_of
{
	my ($path, $pattern) = @_;
	my @lines = split /^/m, slurp_file($path);
	my ($last) = grep { $lines[ $_ - 1 ] =~ /$pattern/ } reverse 1 .. @lines;
	return $last;
}

# As an editor or Ansible would: the whole file, anew.
sub write_file
{
	my ($path, $text) = @_;
	open my $out, '>', $path or die "could not write $path: $!";
	print $out $text;
	close $out or die "could not write $path: $!";
	return;
}

=pod

=item press($node)

A load that wants more than 64MB, for as long as a test may need it: stop_load() ends it.

=cut

sub press
{
	my ($node) = @_;
	return start_wal($node, rate => RATE, seconds => 300);
}

# walsizer's warnings, each with the lines that belong to it.
sub warnings
{
	my ($node, $offset) = @_;
	my (@found, $open);
	foreach my $line (split /\n/, log_since($node, $offset))
	{
		if ($line =~ /WARNING:.*walsizer/)
		{
			push @found, $line;
			$open = 1;
		}
		elsif ($open && $line =~ /(?:DETAIL|HINT):/) { $found[-1] .= "\n$line"; }
		else                                         { $open = 0; }
	}
	return @found;
}

=pod

=item is_blocked($node, $offset, what => qr//, hint => qr//, size => $bytes)

Under a load of press(), checks all that walsizer promises of an obstacle: the state with its reason, one warning since
$offset with the right hint, a row, nothing changed, a recommendation, and the same worker, alive.

=cut

sub is_blocked
{
	my ($node, $offset, %want) = @_;
	my $size = $want{size} // 64 * MB;
	my $pid  = status($node)->{worker_pid};
	is(soon(sub { status($node)->{state} eq 'blocked' && 'blocked' }, PATIENCE), 'blocked', 'state')
	  or diag explain status($node);
	like(status($node)->{reason}, $want{what}, 'the reason');
	my $blocked = row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'blocked' ORDER BY id DESC LIMIT 1});
	like($blocked->{reason} // 'no row', $want{what}, 'the row');

	# Two more checkpoints are forced, and somebody asks: reasons enough to try or to complain again.
	my $since = time;
	ok(soon(sub { forced($node, $since) >= 2 }, PATIENCE), 'checkpoints are forced');
	$node->psql('postgres', 'SELECT walsizer.evaluate()');
	ok(soon(sub { status($node)->{recommended} > $size }, PATIENCE), 'a recommendation goes on being computed');
	my @warnings = warnings($node, $offset);
	is(scalar(@warnings), 1, 'one warning') or diag explain \@warnings;
	like($warnings[0] // '', $want{what}, 'it names the obstacle');
	like($warnings[0] // '', qr/HINT:.*$want{hint}/, 'and says what to do');
	is(max_wal_size($node), $size, 'max_wal_size is what it was');
	is(status($node)->{state}, 'blocked', 'still blocked');
	is(status($node)->{worker_pid}, $pid, 'the worker is the same');
	return;
}

=pod

=item goes_on($node, $above)

The obstacle is gone: the state ends and walsizer raises max_wal_size above $above (64MB).

=cut

sub goes_on
{
	my ($node, $above) = @_;
	$above //= 64 * MB;
	ok(soon(sub { max_wal_size($node) > $above }, PATIENCE), 'mended: it raises') or diag explain status($node);
	ok(soon(sub { status($node)->{state} ne 'blocked' }, PATIENCE), 'and is no longer blocked');
	return;
}

=pod

=item back_to_start($node, $load)

Ends the load, and takes back what walsizer raised, for the next subtest. A new start makes its warnings new ones.

=cut

sub back_to_start
{
	my ($node, $load) = @_;
	stop_load($load);
	ok(soon(sub { $node->psql('postgres', 'SELECT walsizer.undo()') == 0 && auto_conf($node) eq '' }), 'taken back');
	# Held until nobody writes any more, or walsizer would raise at once.
	restart_node($node);
	value($node, 'SELECT walsizer.resume()');
	value($node, 'SELECT walsizer.reset()');
	return;
}

=pod

=item start_with($node, @options)

Starts the server with these on its command line.

=cut

sub start_with
{
	my ($node, @options) = @_;
	system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', "@options", 'start');
	$node->_update_pid(1);
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS walsizer');
	look($node);
	return;
}

=pod

=item stop_postmaster($node), continue_postmaster($pid)

SIGSTOP: sessions and the worker go on, but nobody passes a reload on to them. Returns the postmaster's process id.

=cut

sub stop_postmaster
{
	my ($node) = @_;
	my ($pid) = slurp_file(conf_file($node, 'postmaster.pid')) =~ /^(\d+)/;
	$stopped{$pid} = 1;
	kill 'STOP', $pid;
	return $pid;
}

sub continue_postmaster
{
	my ($pid) = @_;
	kill 'CONT', $pid;
	delete $stopped{$pid};
	return;
}

=pod

=item kill_and_start($node)

kill -9 of the postmaster, and a start as soon as its children are gone, too.

=cut

sub kill_and_start
{
	my ($node) = @_;
	$node->kill9;
	# A start is refused as long as an orphan holds the shared memory.
	for (1 .. 300)
	{
		last if $node->start(fail_ok => 1);
		$node->{_pid} = undef;    # found in the file of the one that is dead
		usleep(200_000);
	}
	look($node);
	return;
}

=pod

=item crash_backend($node)

kill -9 of one backend, so that the postmaster restarts everything; returns when the new worker has looked.

=cut

sub crash_backend
{
	my ($node) = @_;
	my $offset = log_size($node);
	my ($out, $err) = ('', '');
	my $session = IPC::Run::start(
		[ 'psql', '-XAtq', '-h', $node->host, '-p', $node->port, '-c', 'SELECT pg_backend_pid()', '-c', 'SELECT pg_sleep(600)', 'postgres' ],
		'<', \undef, '>', \$out, '2>', \$err);
	eventually('a session', sub { $session->pump_nb; $out =~ /^\d+\n/ });
	my ($pid) = $out =~ /^(\d+)/;
	kill 'KILL', $pid;
	$session->finish;
	eventually('the restart', sub { log_lines($node, $offset, qr/reinitializing/) });
	eventually('a session after it', sub { $node->psql('postgres', 'SELECT 1') == 0 });
	look($node);
	return;
}

# 1/A0000028 as a number.
sub lsn_bytes
{
	my ($lsn) = @_;
	my ($high, $low) = split m{/}, $lsn;
	return hex($high) * 2**32 + hex($low);
}

=pod

=back

=cut

1;
