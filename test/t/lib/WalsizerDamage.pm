
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerDamage - what the tests need that break things: small volumes, kill -9, damaged files

=head1 DESCRIPTION

C<use WalsizerDamage ':own_mounts'> as the very first module: the test then runs in a mount namespace of its own, where
an ordinary user can mount a small tmpfs, and which ends with the test whatever happens. Where the kernel does not
allow that, the whole test is skipped and says why.

=cut

package WalsizerDamage;

use strict;
use warnings;

my @mounted;

# Above "use WalsizerTest": so this END block runs after that one, which stops the servers on these volumes.
END
{
	my $exit_code = $?;
	foreach my $dir (reverse @mounted)
	{
		system('umount', '-l', $dir);
		rmdir $dir;
	}
	$? = $exit_code;
}

use Exporter ();
use File::Temp ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);
use WalsizerTest;

our @ISA    = ('Exporter');
our @EXPORT = qw(
  small_volume put_wal_on small_segments set_ballast volume_free wal_dir_size
  kill_postmaster kill_pid server_back start_again
  history_path history_bytes write_history
  set_and_reload wal_reaches decided_sizes
);

my @own_mounts = qw(unshare --user --mount --map-current-user --keep-caps);

# Before INIT, where PostgreSQL::Test::Utils redirects the output: a program started later would inherit its log.
sub import
{
	my ($class, @wanted) = @_;
	_enter_own_mounts() if grep { $_ eq ':own_mounts' } @wanted;
	$class->export_to_level(1, $class, grep { $_ ne ':own_mounts' } @wanted);
	return;
}

sub _enter_own_mounts
{
	return if $ENV{WALSIZER_TEST_OWN_MOUNTS} || $^C;
	my $dir = File::Temp->newdir;
	my $why = `@own_mounts mount -t tmpfs -o size=1M none $dir 2>&1`;
	plan skip_all => "NO SMALL VOLUME, NOTHING PROVED: this user may not mount in a namespace of its own ($why)"
	  if $? != 0;
	undef $dir;    # removed now: exec runs no destructor
	$ENV{WALSIZER_TEST_OWN_MOUNTS} = 1;
	exec @own_mounts, '--', $^X, (map { "-I$_" } @INC), $0, @ARGV or die "could not run unshare: $!\n";
}

=pod

=head1 VOLUMES

=over

=item small_volume($megabytes)

Mounts a new tmpfs of this size and returns its directory. Needs :own_mounts.

=item put_wal_on($node, $dir)

Before the first start: moves pg_wal there and leaves a symlink.

=item small_segments($node, $megabytes)

Before the first start: WAL segments of this size (default 1).

=item set_ballast($dir, $megabytes)

What "other files" take on the volume: one file of exactly this size; 0 removes it.

=back

=cut

sub small_volume
{
	my ($megabytes) = @_;
	my $dir = File::Temp::tempdir('walsizer_volume_XXXXXX', TMPDIR => 1);
	system_or_bail('mount', '-t', 'tmpfs', '-o', "size=${megabytes}M", 'none', $dir);
	push @mounted, $dir;
	return $dir;
}

sub put_wal_on
{
	my ($node, $dir) = @_;
	my $pg_wal = $node->data_dir . '/pg_wal';
	my $there  = "$dir/" . $node->name;
	system_or_bail('mv', $pg_wal, $there);
	symlink $there, $pg_wal or die "cannot make the symlink $pg_wal: $!\n";
	return;
}

sub small_segments
{
	my ($node, $megabytes) = @_;
	system_or_bail('pg_resetwal', '--wal-segsize=' . ($megabytes // 1), '-D', $node->data_dir);
	return;
}

sub set_ballast
{
	my ($dir, $megabytes) = @_;
	unlink "$dir/ballast";
	return if $megabytes <= 0;
	system_or_bail('fallocate', '-l', "${megabytes}M", "$dir/ballast");
	return;
}

sub volume_free
{
	my ($dir) = @_;
	local $ENV{LC_ALL} = 'C';
	my ($out) = run_command([ 'df', '-P', '-k', $dir ]);
	return 1024 * (split ' ', (split /\n/, $out)[1])[3];
}

# All WAL that lies on disk.
sub wal_dir_size
{
	my ($node) = @_;
	my $sum = 0;
	$sum += -s $_ // 0 foreach glob($node->data_dir . '/pg_wal/0*');
	return $sum;
}

=pod

=head1 KILL -9

=over

=item kill_postmaster($node)

Ends the postmaster with signal 9 and waits until its children have noticed: the data directory is free again.

=item kill_pid($node, $pid)

Ends one server process with signal 9: the postmaster then restarts everything. Returns when the server answers again.

=back

=cut

sub _children
{
	my ($postmaster) = @_;
	my @pids;
	foreach my $stat (glob '/proc/[0-9]*/stat')
	{
		open my $file, '<', $stat or next;
		my $line = <$file> // '';
		push @pids, $1 if $line =~ /^(\d+) \(.*\) \S (\d+)/ && $2 == $postmaster;
	}
	return @pids;
}

sub kill_postmaster
{
	my ($node) = @_;
	my $postmaster = $node->{_pid} or die "the server does not run\n";
	my @children = _children($postmaster);
	$node->kill9;
	return eventually('the end of the orphans', sub { !grep { kill 0, $_ } @children }, 120);
}

# The server's answer to the end of a process: it cannot have answered before the crash was noticed.
sub kill_pid
{
	my ($node, $pid) = @_;
	my $offset = log_size($node);
	kill KILL => $pid or die "there is no process $pid\n";
	return server_back($node, $offset);
}

sub server_back
{
	my ($node, $offset) = @_;
	eventually('the crash to be noticed', sub { log_lines($node, $offset, qr/all server processes terminated; reinitializing/) });
	return look($node);
}

# After kill_postmaster(): a start that fails is told by the test, not by the harness.
sub start_again
{
	my ($node) = @_;
	my $started = $node->start(fail_ok => 1);
	look($node) if $started;
	return $started;
}

=pod

=head1 THE HISTORY FILE

=over

=item history_path($node), history_bytes($node), write_history($node, $bytes)

=back

=cut

sub history_path
{
	my ($node) = @_;
	return $node->data_dir . '/pg_stat/walsizer.history';
}

sub history_bytes
{
	my ($node) = @_;
	return slurp_file(history_path($node));
}

sub write_history
{
	my ($node, $bytes) = @_;
	open my $file, '>:raw', history_path($node) or die 'cannot write ' . history_path($node) . ": $!\n";
	print $file $bytes;
	close $file or die "cannot write: $!\n";
	return;
}

=pod

=head1 OTHERS

=over

=item set_and_reload($node, $name, $value)

ALTER SYSTEM and reload.

=item wal_reaches($node, $lsn, $bytes)

Waits until this much WAL has been written since.

=item decided_sizes($node)

Every size that walsizer ever decided for, from its own log lines, as a hash of megabytes.

=back

=cut

sub set_and_reload
{
	my ($node, $name, $value) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$node->reload;
	return;
}

sub wal_reaches
{
	my ($node, $lsn, $bytes) = @_;
	return eventually("$bytes bytes of WAL", sub { wal_written($node, $lsn) >= $bytes });
}

sub decided_sizes
{
	my ($node) = @_;
	my %sizes;
	foreach my $line (log_lines($node, 0, qr/walsizer (?:raises|lowers) max_wal_size from/))
	{
		my ($number, $unit) = $line =~ /from .*? to ([\d.]+) (MB|GB)/ or die "what is this: $line\n";
		$sizes{ $unit eq 'GB' ? $number * 1024 : $number } = 1;
	}
	return \%sizes;
}

1;
