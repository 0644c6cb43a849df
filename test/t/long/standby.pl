
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A standby sizes itself by what it replays while streaming, so that it starts right when it is promoted; or it leaves
# that alone, when tune_standby is off. (What it does while it catches up: long/standby_catch_up.pl.)

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

use constant TIMEOUT => 30;

# The primary is a plain server: all that happens on the standbys is their own doing.
my $primary = new_node('primary', { shared_preload_libraries => '', max_wal_size => '1GB' });
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION walsizer');
$primary->backup('base');

# Commits, as an application's; 5 MB/s of WAL.
my $load = start_load($primary, "SELECT pg_logical_emit_message(true, 'x', repeat('x', 512 * 1024));\n\\sleep 100 ms\n", -T => 600);

sub standby
{
	my ($name, $settings) = @_;
	my $node = new_node($name, { max_wal_size => '64MB', hot_standby => 'on', %$settings }, from_backup => [ $primary, 'base' ]);
	$node->enable_streaming($primary);
	$node->set_standby_mode;
	$node->start;
	look($node);
	return $node;
}

my $tuned = standby('tuned', {});
my $left  = standby('left', { 'walsizer.tune_standby' => 'off' });
my $old_primary_log = log_size($tuned);

subtest 'a standby watches first' => sub {
	my $status = status($tuned);
	ok($status->{in_recovery}, 'in recovery');
	is($status->{state}, 'tuning', 'state');
	like(status($left)->{reason}, qr/tune_standby is off/, 'the other one says why it does not');
	my ($rc, $out, $err) = $tuned->psql('postgres', 'SELECT walsizer.undo()');
	isnt($rc, 0, 'undo() has nothing to undo');
};

subtest 'it sizes itself while streaming' => sub {
	ok(soon(sub { grows($tuned) }, 4 * TIMEOUT), 'a raise') or diag explain status($tuned);
	my ($grow) = grows($tuned);
	ok(soon(sub { (grows($tuned))[0]{outcome} eq 'effective' }), 'effective') or return;
	is($grow->{old_size}, 64 * MB, 'from what was configured');
	like($grow->{reason}, qr/replay streamed.*promoted/, 'the reason');
	my $need = 5 * MB * TIMEOUT * 1.9;
	cmp_ok($grow->{new_size}, '>', 0.5 * $need, 'to what the load needs') or diag explain $grow;
	cmp_ok($grow->{new_size}, '<', 1.5 * $need, 'and not much more');
	is(max_wal_size($tuned), (grows($tuned))[-1]{new_size}, 'the server runs with it');
	like(auto_conf($tuned), qr/max_wal_size/, 'in its own postgresql.auto.conf');
	is(auto_conf($primary), '', "not in the primary's");
	cmp_ok(value($tuned, 'SELECT count(*) FROM walsizer.windows WHERE in_recovery AND wal_bytes > 0'), '>', 0, 'windows say that they were in recovery');
};

subtest 'tune_standby = off' => sub {
	ok(soon(sub { value($left, 'SELECT count(*) FROM walsizer.windows WHERE wal_bytes > 0') >= 2 }, 2 * TIMEOUT), 'it went on watching');
	$left->psql('postgres', 'SELECT walsizer.evaluate()');
	is(max_wal_size($left), 64 * MB, 'it changed nothing');
	is(scalar(grows($left)), 0, 'and decided nothing');
	is(auto_conf($left), '', 'its postgresql.auto.conf is untouched');
	cmp_ok(status($left)->{recommended}, '>', 64 * MB, 'its recommendation can be had');
};

subtest 'promotion' => sub {
	my $before = row($tuned, 'SELECT max_wal_size, original_size, num_decisions FROM walsizer.status');
	my $forced = value($tuned, 'SELECT num_wal_forced FROM walsizer.stat');
	my $offset = log_size($tuned);
	$tuned->promote;
	eventually('the worker sees it', sub { !status($tuned)->{in_recovery} });
	value($tuned, 'CHECKPOINT');
	look($tuned);
	is(status($tuned)->{state}, 'tuning', 'state');
	is_deeply(row($tuned, 'SELECT max_wal_size, original_size, num_decisions FROM walsizer.status'),
		$before, 'value, original and decisions are those of the standby');
	is(scalar(grows($tuned)), value($tuned, q{SELECT count(*) FROM walsizer.decisions WHERE applied AND action = 'grow'}), 'its raises are in the journal');
	is(value($tuned, 'SELECT num_wal_forced FROM walsizer.stat'), $forced, "promotion's checkpoint is nobody's pressure");
	is(scalar(warnings($tuned, $offset)), 0, 'no warning');

	stop_load($load);
	my $own = start_wal($tuned, rate => 5, seconds => 10);
	finish_load($own);
	is(scalar(forced($tuned, $own->{began})), 0, 'the load it was sized for forces no checkpoint here');
	is(row($tuned, 'SELECT walsizer.undo()') && max_wal_size($tuned), 64 * MB, 'undo() knows what the standby was started with');
};

done_testing();
