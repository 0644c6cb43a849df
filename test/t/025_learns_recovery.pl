
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The replay rate comes from crash recoveries that this server really made, by the server log's own account of them;
# a recovery from a backup is none.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

my %settings = (checkpoint_timeout => '1h', max_wal_size => '1GB', wal_level => 'replica');

# WAL with pages to replay, and a crash long enough after the last checkpoint to mean something. It is on disk when this
# returns: what a killed server had in its buffers is not replayed.
sub write_wal
{
	my ($node, $mb) = @_;
	value($node, "SET synchronous_commit = on; SELECT pg_logical_emit_message(true, 'x', repeat('x', @{[MB]})) FROM generate_series(1, $mb)");
	return;
}

# What the log says of the last recovery: WAL in bytes up to its last record, and times at which it began, replayed, was
# done, and known to walsizer.
sub logged
{
	my ($node, $offset, $began) = @_;
	my %log;
	foreach my $line (split /\n/, log_since($node, $offset))
	{
		my ($at) = $line =~ /^([\d.]+) /;
		if    ($line =~ /$began/)                        { %log           = (began => $at); }
		elsif ($line =~ m{redo starts at ([0-9A-F/]+)})  { $log{start}    = lsn_bytes($1); $log{replays} = $at; }
		elsif ($line =~ m{redo done at ([0-9A-F/]+)})    { $log{bytes}    = lsn_bytes($1) - $log{start}; $log{replayed} = $at; }
		elsif ($line =~ /is ready to accept connections/) { $log{ready} = $at; }
		elsif ($line =~ /walsizer \S+ starts:/)           { $log{known} = $at; }
	}
	return \%log;
}

sub learned
{
	my ($node) = @_;
	return row($node,
		'SELECT extract(epoch FROM last_recovery_time) AS seconds, last_recovery_bytes AS bytes, replay_rate,
		        replay_rate_source AS source, ceiling FROM walsizer.status');
}

# The last checkpoint's redo point, by the control file.
sub redo_point { my ($node) = @_; return lsn_bytes(value($node, 'SELECT redo_lsn FROM pg_control_checkpoint()')); }

sub is_plausible
{
	my ($node, $offset, $began, $redo) = @_;
	my $log = logged($node, $offset, $began);
	my $got = learned($node);
	note explain $log, $got;
	is($got->{source}, 'measured', 'the rate is measured');
	cmp_ok($got->{bytes}, '>=', $log->{bytes}, "the log's $log->{bytes} bytes");
	# The last record itself, and what is left of one that was cut off, are not in the log's figure: 16 MB each.
	is($got->{bytes}, redo_point($node) - $redo, 'from one redo point to the next');
	cmp_ok($got->{seconds}, '>=', $log->{replayed} - $log->{replays}, 'the time is not shorter than the replay');
	# A busy machine starts the worker a while after it is ready.
	cmp_ok($got->{seconds}, '<=', $log->{known} - $log->{began} + 2, 'nor longer than until walsizer was there');
	return $got;
}

my $node = new_node('main', \%settings);
start_node($node);
is(learned($node)->{source}, 'assumed', 'nothing is known of a new server');
is(learned($node)->{bytes}, undef, 'no recovery');

subtest 'a clean restart teaches nothing' => sub {
	write_wal($node, 48);
	restart_node($node, 'fast');
	is(learned($node)->{source}, 'assumed', 'still assumed');
};

subtest 'kill -9 of the postmaster under load' => sub {
	write_wal($node, 200);
	my $redo = redo_point($node);
	my $load = press($node);
	my $offset = log_size($node);
	kill_and_start($node);
	eval { $load->{run}->finish };    # it lost its server
	$load->{run} = undef;
	my $got = is_plausible($node, $offset, qr/starting PostgreSQL/, $redo);
	cmp_ok($got->{bytes}, '>=', 200 * MB, 'all of it');
	# One recovery cannot tell the fixed part from the rate: all of its time counts as replay.
	cmp_ok(abs($got->{replay_rate} * $got->{seconds} - $got->{bytes}), '<', MB, 'the rate is that of this recovery');
};

subtest 'kill -9 of a backend: a crash restart of the running postmaster' => sub {
	write_wal($node, 100);
	my $redo   = redo_point($node);
	my $offset = log_size($node);
	crash_backend($node);
	my $got = is_plausible($node, $offset, qr/reinitializing/, $redo);
	cmp_ok($got->{bytes}, '<', 150 * MB, 'that one, not the one before');
};

subtest 'it survives, and the ceiling rests on it' => sub {
	my $before = learned($node);
	restart_node($node);
	is_deeply(learned($node), $before, 'a restart forgets nothing');
	value($node, q{ALTER SYSTEM SET walsizer.max_recovery_time = '1s'});
	value($node, q{ALTER SYSTEM SET walsizer.disk_reserve = 0});
	value($node, q{ALTER SYSTEM SET walsizer.max = '1TB'});
	$node->reload;
	my $ceiling = soon(sub { my $s = status($node); $s->{limited_by} eq 'recovery_time' && $s->{ceiling} });
	cmp_ok($ceiling, '<=', $before->{replay_rate}, 'one second of replay') or diag explain status($node);
	cmp_ok($ceiling, '>=', 32 * MB, 'and never below two segments');
};

subtest 'a small recovery means nothing' => sub {
	my $before = learned($node);
	value($node, 'CHECKPOINT');
	write_wal($node, 4);
	my $offset = log_size($node);
	kill_and_start($node);
	ok(scalar(log_lines($node, $offset, qr/redo done at/)), 'there was one');
	is_deeply(learned($node), $before, 'nothing is learned');
};

subtest 'recovery from a backup label is none' => sub {
	# --max-rate: the copy of 20 MB takes seconds, so that the backup holds some WAL to replay.
	my $load = start_wal($node, rate => 50, seconds => 300);
	$node->backup('label', backup_options => [ '--max-rate', '6M' ]);
	stop_load($load);
	my $copy = new_node('copy', { %settings }, from_backup => [ $node, 'label' ]);
	$copy->append_conf('postgresql.conf', "walsizer.max_recovery_time = '5min'\n");
	my $offset = log_size($copy);
	$copy->start;
	look($copy);
	my $log = logged($copy, $offset, qr/starting PostgreSQL/);
	note explain $log;
	cmp_ok($log->{bytes}, '>', 40 * MB, "it replayed $log->{bytes} bytes");
	cmp_ok($log->{ready} - $log->{began}, '>', 0.01, 'in a time that would have counted');
	my $got = learned($copy);
	is($got->{bytes}, undef, 'nothing is learned from it');
	is($got->{source}, 'assumed', "and what the other server had learned is dropped");
	ok(scalar(log_lines($copy, $offset, qr/walsizer's history was written elsewhere.*copy/)), 'the log says that it is a copy');
	is($copy->safe_psql('postgres', 'SELECT count(*) > 0 FROM walsizer.windows'), 't', 'the journal is kept');
	like($copy->safe_psql('postgres', 'SELECT reason FROM walsizer.status'), qr/its journal is inherited, this server is a copy of/, 'and shown as inherited');
};

done_testing();
