
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# max_recovery_time stops growth where replaying all of max_wal_size would take longer, is named where it governs, and
# never lowers anything.

use strict;
use warnings;

use Test::More;
use WalsizerFaults;
use WalsizerTest;

# 100 s at 1 MB/s: 100MB, which is 96MB in whole segments.
my $node = new_node(
	'main',
	{
		checkpoint_timeout           => '300s',
		'walsizer.replay_rate'       => 1,
		'walsizer.max_recovery_time' => '100s'
	});
start_node($node);

sub set
{
	my ($name, $value) = @_;
	value($node, "ALTER SYSTEM SET walsizer.$name = '$value'");
	$node->reload;
	look($node);
	return;
}

subtest 'what status says before anything happened' => sub {
	my $status = status($node);
	is($status->{replay_rate}, MB, 'replay_rate');
	is($status->{replay_rate_source}, 'configured', 'its source');
	is($status->{ceiling}, 96 * MB, 'the ceiling');
	is($status->{limited_by}, 'recovery_time', 'what limits');
	like($status->{recovery_estimate}, qr/^00:01:04/, '64MB take 64 s');
	is($status->{last_recovery_time}, undef, 'no recovery was seen');
	ok(scalar(log_lines($node, 0, qr/walsizer.*starts:.*ceiling 96 MB \(recovery_time\)/)), 'the line at start names it, too');
};

my $offset = log_size($node);
my $load   = press($node);

subtest 'it stops growth' => sub {
	ok(soon(sub { status($node)->{state} eq 'at_ceiling' }, 60), 'state');
	is(max_wal_size($node), 96 * MB, 'max_wal_size grew up to it');
	is(status($node)->{limited_by}, 'recovery_time', 'status names it');
	like(status($node)->{reason}, qr/recovery_time ceiling of 96 MB.*max_recovery_time/, 'so does the reason');
	my ($grow) = grows($node);
	is($grow->{limited_by}, 'recovery_time', 'so does the decision');
	is($grow->{ceiling}, 96 * MB, 'with the ceiling');
	cmp_ok($grow->{wanted_size}, '>', 96 * MB, 'and what was wanted');
	like($grow->{reason}, qr/recovery_time ceiling/, 'so does its reason');
	ok(scalar(log_lines($node, $offset, qr/LOG:.*walsizer raises.*recovery_time ceiling/)), 'so does the log line');
	my ($warning) = warnings($node, $offset);
	like($warning // '', qr/recovery_time ceiling.*HINT:.*walsizer\.max_recovery_time/s, 'and the warning says what to raise');
	like(status($node)->{recovery_estimate}, qr/^00:01:36/, '96MB take 96 s');
};

subtest 'it never lowers' => sub {
	set(max_recovery_time => '40s');
	my $since = time;
	ok(soon(sub { forced($node, $since) >= 2 }, 60), 'checkpoints are forced');
	$node->psql('postgres', 'SELECT walsizer.evaluate()');
	is(status($node)->{ceiling}, 32 * MB, 'the ceiling sank');
	is(max_wal_size($node), 96 * MB, 'max_wal_size did not');
	is(value($node, 'SELECT num_lowered FROM walsizer.stat'), 0, 'nothing was lowered');
	is(scalar(warnings($node, $offset)), 1, 'and nobody is told again');
};

subtest 'without it growth goes on' => sub {
	set(max_recovery_time => '0');
	ok(soon(sub { max_wal_size($node) > 96 * MB }, 60), 'max_wal_size');
	isnt(status($node)->{limited_by}, 'recovery_time', 'it no longer governs');
	is(status($node)->{ceiling}, value($node, q{SELECT pg_size_bytes('16GB')}), 'the next one does') if status($node)->{limited_by} eq 'max';
};

subtest 'a rate that nobody configured or measured is assumed' => sub {
	set(replay_rate => '0');
	is(status($node)->{replay_rate_source}, 'assumed', 'replay_rate_source');
	is(status($node)->{replay_rate}, 64 * MB, 'replay_rate');
};

stop_load($load);
done_testing();
