
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# shrink() gives back what walsizer itself took and is not needed, never more; undo() after a long story.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

use constant TIMEOUT => 30;

# Three servers at once, because a need takes a whole checkpoint_timeout to be measured: one goes quiet after a burst,
# one keeps a little load, one has a line of its DBA.
my %node = map { $_ => new_node($_, {}) } qw(quiet busy line);
start_node($_) for values %node;
append_to_file(conf_file($node{line}, 'postgresql.auto.conf'), "max_wal_size = '80 MB'\n");
$node{line}->reload;
eventually('80MB', sub { max_wal_size($node{line}) == 80 * MB });
look($node{line});
my $his_line = auto_conf($node{line});

sub refused
{
	my ($node, $why, $name) = @_;
	my $before = max_wal_size($node);
	my ($rc, $out, $err) = $node->psql('postgres', 'SELECT walsizer.shrink()');
	isnt($rc, 0, "$name: refused");
	like($err, $why, 'says why');
	like($err, qr/HINT:  \S/, 'with a hint');
	is(max_wal_size($node), $before, 'and changes nothing');
	return;
}

subtest 'refusals' => sub {
	refused($node{quiet}, qr/has not raised max_wal_size/, 'nothing was raised');
	my %load = map { $_ => start_wal($node{$_}, rate => 40, seconds => 60) } keys %node;
	foreach my $name (keys %node)
	{
		eventually("a burst's raise", sub { max_wal_size($node{$name}) >= 256 * MB });
		stop_load($load{$name});
	}
	refused($node{quiet}, qr/need is not known yet: watching for/, 'nothing is measured');
};

my $little = start_wal($node{busy}, rate => 3, seconds => 600);
# The burst is history, as it would be after twelve timeouts.
value($_, 'SELECT walsizer.reset()') for values %node;

# shrink(), as soon as nothing but the present is left to judge by: need below $enough.
sub shrunk
{
	my ($node, $enough) = @_;
	eventually(
		'a decision of shrink()',
		sub {
			my $old_news = status($node)->{need} > $enough;
			value($node, 'SELECT walsizer.reset()') if $old_news && value($node, 'SELECT count(*) FROM walsizer.windows');
			return !$old_news && $node->psql('postgres', 'SELECT walsizer.shrink()') == 0;
		},
		6 * TIMEOUT);
	return row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'shrink' ORDER BY id DESC LIMIT 1});
}

subtest 'with no need it goes back to the original, not under it' => sub {
	foreach my $name (qw(quiet line))
	{
		my $original = $name eq 'line' ? 80 * MB : 64 * MB;
		my $offset   = log_size($node{$name});
		my $decision = shrunk($node{$name}, $original);
		is($decision->{cause}, 'manual', "$name: somebody asked");
		is($decision->{outcome}, 'effective', 'outcome');
		is($decision->{new_size}, $original, 'to the original');
		like($decision->{reason}, qr/asked by/, 'the reason names who');
		is(max_wal_size($node{$name}), $original, 'the server runs with it');
		is(auto_conf($node{$name}), $name eq 'line' ? $his_line : '', 'postgresql.auto.conf is what it was before walsizer');
		is(status($node{$name})->{state}, 'tuning', 'walsizer goes on tuning');
		cmp_ok(value($node{$name}, 'SELECT num_lowered FROM walsizer.stat'), '>=', 1, 'it is counted');
		ok(scalar(log_lines($node{$name}, $offset, qr/LOG:.*walsizer lowers max_wal_size/)), 'and in the log');
		refused($node{$name}, qr/has not raised max_wal_size/, 'once more');
	}
};

subtest 'with a need it goes back to that' => sub {
	my $decision = shrunk($node{busy}, 250 * MB);
	my $need     = 3 * MB * TIMEOUT * 1.9;
	is($decision->{outcome}, 'effective', 'outcome');
	cmp_ok($decision->{new_size}, '>=', $need, 'not below the need') or diag explain $decision;
	cmp_ok($decision->{new_size}, '<', 1.6 * $need, 'nor far above');
	cmp_ok($decision->{new_size}, '>', 64 * MB, 'above the original');
	is(max_wal_size($node{busy}), $decision->{new_size}, 'the server runs with it');
	is(status($node{busy})->{original_size}, 64 * MB, 'the original is known still');
	refused($node{busy}, qr/is not above the present need/, 'once more');
	value($node{busy}, q{ALTER SYSTEM SET walsizer.enable = off});
	$node{busy}->reload;
	eventually('disabled', sub { status($node{busy})->{state} eq 'disabled' });
	$node{busy}->psql('postgres', 'SELECT walsizer.shrink()');
	is(max_wal_size($node{busy}), $decision->{new_size}, 'nor while walsizer is disabled');
	value($node{busy}, q{ALTER SYSTEM RESET walsizer.enable});
	$node{busy}->reload;
};
stop_load($little);

subtest 'undo() after many changes and restarts' => sub {
	my $node = $node{line};
	foreach my $mode (qw(fast immediate smart))
	{
		my $before = max_wal_size($node);
		my $load   = start_wal($node, rate => 40, seconds => 60);
		eventually('a raise', sub { max_wal_size($node) > $before });
		stop_load($load);
		look($node);
		restart_node($node, $mode);
		cmp_ok(max_wal_size($node), '>', $before, "raised again, then a restart ($mode)");
		is(status($node)->{original_size}, 80 * MB, 'the original is the first one');
	}
	value($node, q{SELECT pg_terminate_backend(worker_pid::int) FROM walsizer.status});
	look($node);
	is($node->psql('postgres', 'SELECT walsizer.undo()'), 0, 'undo()');
	is(auto_conf($node), $his_line, 'exactly his line');
	is(max_wal_size($node), 80 * MB, 'and his value');
};

done_testing();
