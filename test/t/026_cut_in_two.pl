
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A change is two writes and a reload: the intention in the history, the line in postgresql.auto.conf. Whatever happens
# in between, and however late the reload comes, a raise of walsizer's is recognised as its own, and undo() still knows
# what was there before. A stopped (SIGSTOP) postmaster passes no reload on: that makes the moment as long as needed.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '300s' });
start_node($node);

# Under load, stops the postmaster and waits for walsizer's line. Its reload gets stuck.
sub raise_without_reload
{
	my $before = max_wal_size($node);
	my $load   = press($node);
	eventually('its session', sub { wal_written($node, $load->{lsn}) > MB });
	my $pid = stop_postmaster($node);
	eventually("walsizer's line", sub { auto_conf($node) =~ /^max_wal_size/ });
	return ($pid, $load, $before);
}

# Everything is as if the change had never been interrupted.
sub is_its_own
{
	my ($before) = @_;
	my ($grow)  = (grows($node))[-1];
	my $status  = status($node);
	my $present = max_wal_size($node);
	cmp_ok($present, '>', $before, 'the server runs with the raised value');
	is($status->{state}, 'tuning', 'state');
	is($status->{original_size}, $before, 'the original is known');
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'}), 0, "it is nobody else's");
	is($grow->{outcome}, 'effective', "the decision's outcome");
	is($grow->{new_size}, $present, 'and value');
	is($node->psql('postgres', 'SELECT walsizer.undo()'), 0, 'undo()');
	is(max_wal_size($node), $before, 'puts back what was there');
	is(auto_conf($node), '', 'without a line');
	restart_node($node);
	value($node, 'SELECT walsizer.resume()');
	return;
}

subtest 'kill -9 after the line, before the reload' => sub {
	my ($pid, $load, $before) = raise_without_reload();
	kill_and_start($node);
	eval { $load->{run}->finish };
	$load->{run} = undef;
	is_its_own($before);
};

subtest 'the reload comes later than anybody waits for it' => sub {
	my ($pid, $load, $before) = raise_without_reload();
	my $offset = log_size($node);
	# The running load keeps no session for a question: the log tells when walsizer gave up.
	ok(soon(sub { log_lines($node, $offset, qr/WARNING:.*walsizer.*after the reload/) }, 60),
		'walsizer says that the server still runs with the old value');
	continue_postmaster($pid);
	stop_load($load);
	eventually('the reload', sub { max_wal_size($node) > $before });
	look($node);
	is_its_own($before);
};

subtest 'a lost history: undo() refuses and says why' => sub {
	my $load = press($node);
	eventually('a raise', sub { max_wal_size($node) > 64 * MB });
	stop_load($load);
	$node->stop;
	unlink map { conf_file($node, $_) } history_files($node);
	start_node($node);
	my $present = max_wal_size($node);
	my ($rc, $out, $err) = $node->psql('postgres', 'SELECT walsizer.undo()');
	isnt($rc, 0, 'refused');
	like($err, qr/does not know what max_wal_size was before/, 'why');
	like($err, qr/HINT:.*history file was lost.*ALTER SYSTEM/, 'and what to do');
	is(max_wal_size($node), $present, 'nothing changed');
	is(status($node)->{original_size}, undef, 'status does not pretend to know');
	is(status($node)->{state}, 'tuning', 'and no order was given');
};

done_testing();
