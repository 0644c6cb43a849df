
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A primary comes back as the standby of its own standby. pg_rewind brings it the other server's history file and
# postgresql.auto.conf: it must take them for what they are, inherited, and go on; and so must the new primary.
#
# About 3 minutes.

use strict;
use warnings;

use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerFaults;
use WalsizerTest;

use constant TIMEOUT => 30;

# pg_rewind needs wal_log_hints, and WAL back to the last checkpoint that both have in common.
my %settings = (
	max_wal_size            => '64MB',
	checkpoint_timeout      => TIMEOUT . 's',
	wal_log_hints           => 'on',
	wal_keep_size           => '2GB',
	'walsizer.disk_reserve' => 0);

my $old = new_node('old', {%settings});
start_node($old);
$old->backup('base');
my $new = new_node('new', {%settings}, from_backup => [ $old, 'base' ]);
$new->enable_streaming($old);
$new->set_standby_mode;
$new->start;
look($new);

# Commits, as an application's.
sub load
{
	my ($node, $rate) = @_;
	my $size = int($rate * MB / 10);
	return start_load($node, "SELECT pg_logical_emit_message(true, 'x', repeat('x', $size));\n\\sleep 100 ms\n", -T => 600);
}

sub journal
{
	my ($node) = @_;
	return value($node,
		q{SELECT coalesce(string_agg(concat_ws(' ', id, decided_at, action, old_size, new_size), E'\n' ORDER BY id), '') FROM walsizer.decisions});
}

sub windows
{
	my ($node, $where) = @_;
	return value($node, "SELECT count(*) FROM walsizer.windows WHERE $where");
}

sub rows_since
{
	my ($node, $id) = @_;
	return rows($node, "SELECT * FROM walsizer.decisions WHERE id > $id ORDER BY id");
}

sub last_id
{
	my ($node) = @_;
	return value($node, 'SELECT coalesce(max(id), 0) FROM walsizer.decisions');
}

sub caught_up
{
	my ($standby, $primary) = @_;
	my $lsn = value($primary, 'SELECT pg_current_wal_flush_lsn()');
	return eventually('the standby to catch up', sub { value($standby, "SELECT coalesce(pg_last_wal_replay_lsn() >= '$lsn', false)") eq 't' });
}

subtest 'both are sized' => sub {
	my $load = load($old, 5);
	ok(soon(sub { max_wal_size($_) > 64 * MB }, 4 * TIMEOUT), $_->name . ' raises') foreach $old, $new;
	# Not in the middle of a row of raises.
	eventually('whole windows', sub { windows($_, 'wal_bytes > 0') >= 2 }, 4 * TIMEOUT) foreach $old, $new;
	stop_load($load);
	caught_up($new, $old);
};

my ($new_id, $new_forced, $new_offset) = (last_id($new), value($new, 'SELECT num_wal_forced FROM walsizer.stat'), log_size($new));
my ($old_journal, $old_size) = (journal($old), max_wal_size($old));

subtest 'the standby is promoted, the old primary writes a little more' => sub {
	$new->promote;
	eventually('the worker sees it', sub { !status($new)->{in_recovery} });
	value($new, 'CHECKPOINT');    # pg_rewind reads the new timeline from the control file
	value($new, 'CREATE TABLE mine AS SELECT generate_series(1, 10000) AS i');
	value($old, 'CREATE TABLE lost AS SELECT generate_series(1, 50000) AS i');
	value($old, q{SELECT pg_logical_emit_message(true, 'x', repeat('x', 1024 * 1024)) FROM generate_series(1, 20)});
	$old->stop('fast');

	look($new);
	is(status($new)->{state}, 'tuning', 'the new primary tunes');
	is(value($new, 'SELECT num_wal_forced FROM walsizer.stat'), $new_forced, "promotion's checkpoint is nobody's pressure");
	is_deeply([ map { $_->{action} } rows_since($new, $new_id) ], [], 'nothing was decided');
	is(scalar(warnings($new, $new_offset)), 0, 'no warning');
};

# A history that is being written while pg_rewind reads it would be another story: the last window with WAL is saved first.
my $now = value($new, 'SELECT clock_timestamp()');
eventually('the window to be closed', sub { windows($new, "window_end > '$now'") > 0 }, 3 * TIMEOUT);
my %before = (
	journal => journal($new),
	id      => last_id($new),
	size    => max_wal_size($new),
	stat    => row($new, 'SELECT num_wal_forced, num_raised, num_lowered, num_failed FROM walsizer.stat'),
	windows => windows($new, 'true'),
	conf    => auto_conf($new));
isnt($before{journal}, $old_journal, 'the two journals differ');

my $old_offset = log_size($old);
subtest 'pg_rewind' => sub {
	my $conf = $old->data_dir . '/postgresql.conf';
	# It would bring the other server's port as well.
	my $kept = PostgreSQL::Test::Utils::tempdir . '/postgresql.conf';
	copy($conf, $kept) or die "cannot copy $conf: $!\n";
	command_ok(
		[ 'pg_rewind', '--no-sync', '--target-pgdata', $old->data_dir, '--source-server', $new->connstr('postgres') ],
		'pg_rewind');
	copy($kept, $conf) or die "cannot put $conf back: $!\n";
	is(auto_conf($old), $before{conf}, "it brought the new primary's postgresql.auto.conf");
	ok(-s $old->data_dir . '/pg_stat/walsizer.history', 'and a history file');
	$old->enable_streaming($new);
	$old->set_standby_mode;
	$old->start;
	look($old);
	caught_up($old, $new);
	is(value($old, q{SELECT to_regclass('lost') IS NULL AND to_regclass('mine') IS NOT NULL}), 't', 'the old primary has become a copy of the new');
};

subtest 'the old primary as a standby' => sub {
	look($old);
	my $status = status($old);
	ok($status->{in_recovery}, 'in recovery');
	is($status->{state}, 'tuning', 'state') or diag explain $status;
	my $there = $new->data_dir;
	is(scalar(log_lines($old, $old_offset, qr/LOG:.*walsizer's history was written elsewhere \("\Q$there\E"\): this server is a copy/)), 1, 'the log says, once, where its history comes from');
	is(scalar(log_lines($old, $old_offset, qr/sets aside|walsizer could not/)), 0, 'and that it could be read');
	is(scalar(grep { -e } glob($old->data_dir . '/pg_stat/walsizer.history.damaged*')), 0, 'no damaged file');
	is(scalar(warnings($old, $old_offset)), 0, 'no warning');
	is(journal($old), $before{journal}, "the journal is shown: the new primary's, and nothing was added");
	cmp_ok(windows($old, 'true'), '>=', $before{windows}, 'its windows, too');
	is_deeply(row($old, 'SELECT num_wal_forced, num_raised, num_lowered, num_failed FROM walsizer.stat'), $before{stat}, 'no counter moved: nothing was forced by the rewind');
	is(max_wal_size($old), $before{size}, 'it runs with what postgresql.auto.conf says');
	is($status->{original_size}, 64 * MB, 'and knows what was there before');
	is($status->{replay_rate_source}, 'assumed', 'no replay rate is claimed');
	is($status->{last_error} // '', '', 'no error');
};

subtest 'a load that asks for more than before' => sub {
	my $load = load($new, 12);
	ok(soon(sub { grep { $_->{action} eq 'grow' && $_->{applied} } rows_since($new, $before{id}) }, 3 * TIMEOUT), 'the new primary raises');
	ok(soon(sub { grep { $_->{action} eq 'grow' && $_->{applied} } rows_since($old, $before{id}) }, 5 * TIMEOUT), 'the old one, too, by what it replays')
	  or diag explain status($old);
	my $rate = wal_written($new, $load->{lsn}) / (time - $load->{began});
	stop_load($load);
	my $need = $rate * TIMEOUT * 1.9;
	foreach my $node ($old, $new)
	{
		my $name = $node->name;
		my @rows = rows_since($node, $before{id});
		note("$name: $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach @rows;
		is(scalar(grep { $_->{action} ne 'grow' } @rows), 0, "$name: it only raised");
		is($rows[0]{old_size}, $before{size}, "$name: from where it stood");
		cmp_ok(max_wal_size($node), '<', 1.7 * $need, sprintf('%s: %d MB, for a need of %d MB', $name, max_wal_size($node) / MB, $need / MB));
		is(status($node)->{state}, 'tuning', "$name: tuning");
	}
};

subtest 'undo() on each' => sub {
	caught_up($old, $new);
	my $size = max_wal_size($new);
	is(row($old, 'SELECT * FROM walsizer.undo()')->{new_size}, 64 * MB, 'the old one goes back to what was configured');
	is(max_wal_size($old), 64 * MB, 'and runs with it');
	is(auto_conf($old), '', 'without a line in postgresql.auto.conf');
	is(max_wal_size($new), $size, 'which is none of the new one\'s business');
	is(row($new, 'SELECT * FROM walsizer.undo()')->{new_size}, 64 * MB, 'the new one, too');
	is(max_wal_size($new), 64 * MB, 'and runs with it');
};

# It has not become a server that can no longer be restarted: what it wrote itself is its own history now.
subtest 'and a restart' => sub {
	my $offset = log_size($old);
	my $journal = journal($old);
	$old->restart;
	look($old);
	is(journal($old), $journal, 'the journal survives');
	is(scalar(log_lines($old, $offset, qr/written elsewhere/)), 0, 'and is its own now');
	is(status($old)->{state}, 'held', 'undo() still holds');
};

done_testing();
