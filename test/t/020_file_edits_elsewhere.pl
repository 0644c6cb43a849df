
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# More edits of max_wal_size below walsizer's line (018_file_edits.pl has the simplest ones): in an include, higher than
# walsizer's value, with a restart, while walsizer is at work, and how an order of that kind ends.

use strict;
use warnings;

use Test::More;
use WalsizerFaults;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '300s' });
mkdir conf_file($node, 'conf.d') or die $!;
$node->append_conf('postgresql.conf', "include_dir = 'conf.d'\n");
my $include = conf_file($node, 'conf.d/wal.conf');

sub edit
{
	my ($mb) = @_;
	write_file($include, "# by Ansible\nmax_wal_size = ${mb}MB\n");
	return;
}

sub newest
{
	my ($action) = @_;
	return row($node, "SELECT * FROM walsizer.decisions WHERE action = '$action' ORDER BY id DESC LIMIT 1") // {};
}

# Ends with a line of walsizer's above what the files say.
sub let_it_raise
{
	my $from = max_wal_size($node);
	my $load = press($node);
	eventually('a raise', sub { max_wal_size($node) > $from && auto_conf($node) =~ /^max_wal_size/ });
	stop_load($load);
	look($node);
	return max_wal_size($node) / MB;
}

sub runs_with
{
	my ($mb, $name) = @_;
	is(soon(sub { max_wal_size($node) == $mb * MB && $mb }), $mb, $name // "the server runs with ${mb}MB");
	return;
}

edit(64);
start_node($node);

subtest 'lower, in an include' => sub {
	let_it_raise();
	my $offset = log_size($node);
	edit(48);
	$node->reload;
	is(soon(sub { status($node)->{state} eq 'held' && 'held' }), 'held', 'state');
	runs_with(48);
	is(auto_conf($node), '', 'walsizer withdrew its line');
	like(status($node)->{reason}, qr{48 ?MB.*conf\.d/wal\.conf:2}, 'the reason names file and line');
	like(newest('external')->{reason}, qr{from 64 ?MB to 48 ?MB in .*conf\.d/wal\.conf:2}, 'so does the decision');
	is(soon(sub { newest('external')->{outcome} eq 'effective' && 'effective' }), 'effective', 'its outcome');
	ok(scalar(grep { m{wal\.conf:2} } warnings($node, $offset)), 'so does a warning');
	restart_node($node);
	is(status($node)->{state}, 'held', 'a restart does not end it');
	runs_with(48);
};

subtest 'a higher value there ends it' => sub {
	edit(64);
	$node->reload;
	runs_with(64);
	is(soon(sub { status($node)->{state} eq 'tuning' && 'tuning' }), 'tuning', 'state');
	cmp_ok(let_it_raise(), '>', 64, 'the next load raises');
};

subtest "higher than walsizer's, reloaded" => sub {
	my $ours = max_wal_size($node) / MB;
	edit(2 * $ours);
	$node->reload;
	runs_with(2 * $ours, "the file's value works");
	is(auto_conf($node), '', "without a line of walsizer's");
	is(soon(sub { status($node)->{state} eq 'tuning' && 'tuning' }), 'tuning', 'it goes on');
	like(status($node)->{source}, qr{wal\.conf:2}, 'the source is the file');
	is(soon(sub { (newest('external')->{outcome} // '') eq 'effective' && newest('external')->{new_size} }), 2 * $ours * MB, 'decision');
};

# Back to a small value, as a person would do it.
edit(48);
$node->reload;
eventually('48MB', sub { max_wal_size($node) == 48 * MB });
look($node);
value($node, 'SELECT walsizer.resume()');

subtest "higher than walsizer's, then a restart" => sub {
	my $ours = let_it_raise();
	$node->stop;
	edit(2 * $ours);
	start_node($node);
	runs_with(2 * $ours, "the file's value works");
	is(auto_conf($node), '', "without a line of walsizer's");
	is(soon(sub { status($node)->{state} eq 'tuning' && 'tuning' }), 'tuning', 'it goes on');
};

edit(48);
$node->reload;
eventually('48MB', sub { max_wal_size($node) == 48 * MB });
look($node);
value($node, 'SELECT walsizer.resume()');

subtest "higher than before, below walsizer's, then a restart" => sub {
	my $ours = let_it_raise();
	cmp_ok($ours, '>', 56, "walsizer's is ${ours}MB");
	$node->stop;
	edit(56);
	start_node($node);
	is(soon(sub { status($node)->{original_size} == 56 * MB && 56 }), 56, 'the new original');
	runs_with($ours, "walsizer's stays");
	value($node, 'SELECT walsizer.undo()');
	runs_with(56, "undo() goes to the file's value");
	is(auto_conf($node), '', 'without a line');
	value($node, 'SELECT walsizer.resume()');
};

subtest "an edit that nobody has loaded is in the way, though walsizer's line hides it" => sub {
	let_it_raise();
	my $before = max_wal_size($node);
	edit(40);
	my $load = press($node);
	is(soon(sub { status($node)->{state} eq 'blocked' && 'blocked' }), 'blocked', 'state');
	like(status($node)->{reason}, qr/unfinished edit: max_wal_size was changed \(.*:\d+\)/, 'and why');
	is(max_wal_size($node), $before, 'no raise');
	stop_load($load);
	$node->reload;
	is(soon(sub { status($node)->{state} eq 'held' && 'held' }), 'held', 'loaded, it is an order');
	runs_with(40);
	is(auto_conf($node), '', 'walsizer withdrew its line');
	$node->psql('postgres', 'SELECT walsizer.resume()');
};

subtest 'less than two WAL segments: the next start will fail' => sub {
	edit(48);
	$node->reload;
	runs_with(48);
	look($node);
	value($node, 'SELECT walsizer.resume()');
	let_it_raise();
	foreach my $how ('in the file', 'with ALTER SYSTEM')
	{
		my $offset = log_size($node);
		$how =~ /file/ ? edit(16) : value($node, q{ALTER SYSTEM SET max_wal_size = '16MB'});
		$node->reload;
		runs_with(16);
		my ($warning) = eventually('a warning', sub { grep { /next start/ } warnings($node, $offset) })
		  ? grep { /next start/ } warnings($node, $offset)
		  : '';
		like($warning, qr/16 ?MB.*next start.*will fail/, "$how: the warning");
		like($warning, qr/HINT:.*32 ?MB/, 'says what to set');
		is(status($node)->{state}, 'held', 'it is an order all the same');
		edit(48);
		value($node, 'ALTER SYSTEM RESET max_wal_size');
		$node->reload;
		ok(soon(sub { max_wal_size($node) >= 48 * MB }), 'put right');
		look($node);
		is(status($node)->{state}, 'tuning', 'and ended by that raise');
	}
};

done_testing();
