
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# What walsizer.status says about pg_wal's volume, and about who keeps WAL there: compared with df, pg_ls_waldir() and the
# control file. Each holder is a real one.

use strict;
use warnings;

use File::Temp ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;

use constant GB => 1024 * MB;

# The slowest look at the volume, with room for a busy machine.
use constant PATIENCE => 40;

# Segments of 1 MB: everything here is counted in segments, none has to be big.
my %settings = (checkpoint_timeout => '1h', max_wal_size => '256MB', min_wal_size => '4MB');

sub small_segments
{
	my ($node) = @_;
	system_or_bail('pg_resetwal', '--wal-segsize=1', '-D', $node->data_dir);
	return;
}

# Writes and finishes this many segments, then completes a checkpoint.
sub advance
{
	my ($node, $segments) = @_;
	$node->safe_psql('postgres', q{SELECT pg_logical_emit_message(false, '', 'x'); SELECT pg_switch_wal();})
	  for 1 .. $segments;
	checkpoint($node);
	return;
}

sub checkpoint
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'CHECKPOINT');
	return;
}

sub set
{
	my ($node, $name, $value) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$node->reload;
	return;
}

# The server's own word: segments there are, and those of them that the last completed checkpoint does not need.
sub segments
{
	my ($node) = @_;
	return row(
		$node, q{
		SELECT sum(size) AS size, coalesce(sum(size) FILTER (WHERE number < redo), 0) AS old
		FROM (SELECT size, substr(name, 9, 16) AS number FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}(\.partial)?$') s,
		     (SELECT substr(redo_wal_file, 9, 16) AS redo FROM pg_control_checkpoint()) c});
}

sub df
{
	my ($path) = @_;
	local $ENV{LC_ALL} = 'C';
	my ($out) = run_command([ 'df', '-P', '-k', $path ]);
	my @fields = split ' ', (split /\n/, $out)[1];
	return { size => $fields[1] * 1024, free => $fields[3] * 1024 };
}

# Segments in archive_status that wait, oldest first.
sub ready
{
	my ($node) = @_;
	return sort map { m{([0-9A-F]{24})\.ready$} ? $1 : () } glob($node->data_dir . '/pg_wal/archive_status/*.ready');
}

# Waits until the status agrees, then says with what. $old is the size of the segments that are kept; undef: all there are.
sub is_held_by
{
	my ($node, $holder, $name, $old) = @_;
	my $as_it_should_be = sub {
		my $status = status($node);
		return ($status->{wal_held_by} // '') eq ($holder // '')
		  && $status->{wal_held} == ($old // segments($node)->{old});
	};
	soon($as_it_should_be, PATIENCE);
	my $status = status($node);
	is($status->{wal_held_by}, $holder, "$name: the holder");
	is($status->{wal_held}, $old // segments($node)->{old}, "$name: what it holds");
	return $status;
}

# Both figures change under everybody's hands; a mistaken field or unit is far outside one per cent.
sub is_volume_of
{
	my ($node, $path) = @_;
	my $agree = sub {
		my ($status, $df) = (status($node), df($path));
		return $status->{disk_size} == $df->{size} && abs($status->{disk_free} - $df->{free}) < $df->{size} / 100;
	};
	ok(soon($agree, PATIENCE), 'size and free space are those of df')
	  or diag explain [ status($node), df($path) ];
	return;
}

sub dir_size_is_right
{
	my ($node) = @_;
	# The rest is archive_status itself.
	my $agree = sub {
		my $rest = status($node)->{wal_dir_size} - segments($node)->{size};
		return $rest >= 0 && $rest < 256 * 1024;
	};
	ok(soon($agree, PATIENCE), 'wal_dir_size is that of all segments')
	  or diag explain [ status($node), segments($node) ];
	return;
}

my $node = new_node('main', \%settings);
small_segments($node);
start_node($node);

subtest 'the volume' => sub {
	is_volume_of($node, $node->data_dir . '/pg_wal');
	dir_size_is_right($node);

	my $share = int(status($node)->{disk_size} / 5);
	my $reserve = $share < GB ? GB : $share > 20 * GB ? 20 * GB : $share;
	is(status($node)->{disk_reserve}, $reserve, 'the automatic reserve');
	foreach my $mb (512, 0)
	{
		set($node, 'walsizer.disk_reserve', "${mb}MB");
		soon(sub { status($node)->{disk_reserve} == $mb * MB });
		is(status($node)->{disk_reserve}, $mb * MB, "a reserve of ${mb}MB");
	}
};

subtest 'nobody holds anything' => sub {
	advance($node, 4);
	is_held_by($node, undef, 'after a checkpoint', 0);
	dir_size_is_right($node);
};

subtest 'a replication slot without a consumer' => sub {
	$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('dead_standby', true)});
	advance($node, 5);
	my $first = is_held_by($node, 'replication slot dead_standby', 'unbounded');
	cmp_ok($first->{wal_held}, '>=', 5 * MB, 'five segments at least');
	advance($node, 5);
	my $second = is_held_by($node, 'replication slot dead_standby', 'later');
	is($second->{wal_held} - $first->{wal_held}, 5 * MB, 'five segments more');

	# A younger slot is not the one to name.
	$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('a_younger_one', true)});
	advance($node, 1);
	is_held_by($node, 'replication slot dead_standby', 'beside a younger one');
	$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('a_younger_one')});
};

subtest 'max_slot_wal_keep_size' => sub {
	set($node, 'max_slot_wal_keep_size', '20MB');
	advance($node, 1);
	is_held_by($node, 'replication slot dead_standby', 'within the bound');
	set($node, 'max_slot_wal_keep_size', '6MB');
	is_held_by($node, 'replication slot dead_standby', 'beyond the bound, and no checkpoint since', 6 * MB);
	advance($node, 1);
	is(value($node, 'SELECT wal_status FROM pg_replication_slots'), 'lost', 'the server gives the slot up');
	is_held_by($node, undef, 'given up', 0);
	$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('dead_standby')});
};

subtest 'a holder that lets go' => sub {
	set($node, 'max_slot_wal_keep_size', '-1');
	$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('dropped', true)});
	advance($node, 3);
	is_held_by($node, 'replication slot dropped', 'before');
	$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('dropped')});
	my $status = is_held_by($node, undef, 'dropped, and no checkpoint since');
	cmp_ok($status->{wal_held}, '>=', 3 * MB, 'the segments are still there');
	checkpoint($node);
	is_held_by($node, undef, 'after the next checkpoint', 0);
};

subtest 'wal_keep_size' => sub {
	set($node, 'wal_keep_size', '4MB');
	advance($node, 8);
	is_held_by($node, 'wal_keep_size', 'alone', 4 * MB);

	# The slot needs less than wal_keep_size keeps anyway, but it has no bound: it must be named as well.
	$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('late', true)});
	advance($node, 2);
	is_held_by($node, 'wal_keep_size and replication slot late', 'with a slot that is still younger', 4 * MB);
	advance($node, 6);
	is_held_by($node, 'replication slot late', 'with a slot that is older by now');
	$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('late')});
	set($node, 'wal_keep_size', '0');
	checkpoint($node);
	is_held_by($node, undef, 'back to 0', 0);
};

subtest 'a failing archiver' => sub {
	$node->safe_psql('postgres', "ALTER SYSTEM SET $_") for q{archive_mode = 'on'}, q{archive_command = 'false'};
	restart_node($node, 'fast');
	advance($node, 3);
	foreach my $more (0, 2)
	{
		advance($node, $more);
		my @ready = ready($node);
		cmp_ok(scalar(@ready), '>=', 3 + $more, @ready . ' segments wait');
		is_held_by($node, 'archiver (' . @ready . " segments not archived, oldest $ready[0])", 'archive_command fails');
	}

	set($node, 'archive_command', 'true');
	# The archiver tries again within a minute; the end of a segment wakes it.
	ok(soon(sub { advance($node, 1); !(my @waiting = ready($node)) }, 70), 'archive_command works again');
	is_held_by($node, undef, 'all archived', 0);
};

subtest 'the WAL summarizer' => sub {
	plan skip_all => 'came with PostgreSQL 17' if value($node, 'SHOW server_version_num') < 170000;

	set($node, 'summarize_wal', 'on');
	my $pid = eventually('the summarizer',
		sub { value($node, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsummarizer'}) });
	# It works now; its first step may be as old as the server.
	eventually('its first summary', sub { advance($node, 1); status($node)->{wal_held} == 0 });
	kill STOP => $pid;
	my $ok = eval {
		advance($node, 4);
		is_held_by($node, 'WAL summarizer', 'stopped');
		cmp_ok(status($node)->{wal_held}, '>=', 3 * MB, 'what it has not seen yet');
		1;
	};
	my $error = $@;
	kill CONT => $pid;
	die $error if !$ok;
	ok(soon(sub { checkpoint($node); status($node)->{wal_held} == 0 }, 60), 'it goes on, and holds nothing any more');
	set($node, 'summarize_wal', 'off');
};

subtest 'a standby, and its promotion' => sub {
	$node->backup('base');
	my $standby = new_node('standby', \%settings, from_backup => [ $node, 'base', has_streaming => 1 ]);
	# archive_mode = on came with the copy. A standby archives nothing then, and holds nothing for it.
	$standby->append_conf('postgresql.auto.conf', "archive_command = 'false'\n");
	$standby->start;
	look($standby);
	my $restartpoint = sub {
		advance($node, $_[0]);
		$node->wait_for_catchup($standby);
		checkpoint($standby);
	};
	$restartpoint->(3);
	is_held_by($standby, undef, 'a plain standby', 0);

	# A former primary may have .ready files; with archive_mode = on they hold nothing as long as it is a standby.
	set($standby, 'wal_keep_size', '4MB');
	$restartpoint->(6);
	is_held_by($standby, 'wal_keep_size', 'wal_keep_size on the standby');
	$standby->stop;
	my ($done) = sort glob($standby->data_dir . '/pg_wal/archive_status/*.done');
	rename $done, $done =~ s/done$/ready/r or die "cannot rename $done: $!";
	$standby->start;
	look($standby);
	is_deeply([ ready($standby) ], [ $done =~ /([0-9A-F]{24})\.done$/ ], 'its .ready file is still there');
	is_held_by($standby, 'wal_keep_size', 'beside a .ready file');
	set($standby, 'wal_keep_size', '0');
	$restartpoint->(2);
	is_held_by($standby, undef, 'wal_keep_size back to 0', 0);

	$standby->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('cascade', true)});
	$restartpoint->(4);
	my $before = is_held_by($standby, 'replication slot cascade', 'a slot on the standby');
	cmp_ok($before->{wal_held}, '>=', 3 * MB, 'it holds something');

	$standby->promote;
	advance($standby, 2);
	my $after = is_held_by($standby, 'replication slot cascade', 'promoted');
	cmp_ok($after->{wal_held}, '>', $before->{wal_held}, 'segments of both timelines count');
	$standby->stop;
};

subtest 'pg_wal is a symlink to another file system' => sub {
	my $shm = '/dev/shm';
	plan skip_all => "needs $shm" if !-d $shm || !-w $shm;
	plan skip_all => "needs 256 MB in $shm" if df($shm)->{free} < 256 * MB;
	plan skip_all => "needs the data directory outside $shm" if df($shm)->{size} == df($node->data_dir)->{size};

	my $there  = File::Temp->newdir('walsizer_test_XXXXXX', DIR => $shm);
	my $linked = new_node('linked', \%settings);
	small_segments($linked);
	my $pg_wal = $linked->data_dir . '/pg_wal';
	system_or_bail('mv', $pg_wal, "$there/wal");
	symlink "$there/wal", $pg_wal or die "cannot make the symlink $pg_wal: $!";
	# A stranger's file takes space, but would never give it to WAL.
	append_to_file("$there/wal/ballast", 'x' x (5 * MB));

	start_node($linked);
	is_volume_of($linked, $shm);
	dir_size_is_right($linked);
	$linked->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('far', true)});
	advance($linked, 3);
	is_held_by($linked, 'replication slot far', 'behind the symlink');
	dir_size_is_right($linked);
	$linked->stop;
};

is(scalar(log_lines($node, 0, qr/walsizer cannot look at the volume/)), 0, 'the volume could be read all the time');
is(scalar(log_lines($node, 0, qr/ERROR|PANIC/)), 0, 'no error');

done_testing();
