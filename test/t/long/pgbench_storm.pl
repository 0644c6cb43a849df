
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A steady pgbench load that starts at a far too small max_wal_size: with anticipate on no checkpoint is forced after
# the first second; with it off the storm ends after threshold + 2. Both end at the same, right size.
#
# About 9 minutes and 6 GB. WALSIZER_TEST_LOAD_SECONDS shortens it (not below three timeouts).

use strict;
use warnings;

use List::Util qw(max);
use Test::More;
use WalsizerTest;

use constant TIMEOUT => 60;
use constant TARGET  => 0.9;
use constant START   => 128 * MB;
# 128MB at this target: four segments.
use constant TRIGGER => 64 * MB;

my $seconds = $ENV{WALSIZER_TEST_LOAD_SECONDS} // 180;

my %settings = (
	shared_buffers               => '512MB',
	checkpoint_timeout           => TIMEOUT . 's',
	checkpoint_completion_target => TARGET,
	autovacuum                   => 'on');

# The data, loaded once by a server that no checkpoint bothers.
my $template = new_node('template', { %settings, shared_preload_libraries => '', max_wal_size => '8GB' });
$template->start;
$template->command_ok([ 'pgbench', '-i', '-q', '-s', '50', '-p', $template->port, 'postgres' ], 'pgbench -i -s 50');
value($template, 'CREATE EXTENSION walsizer');
$template->stop;
$template->backup_fs_cold('data');

# Runs the load on a server of its own; returns the server, the load and its raises.
sub storm
{
	my ($name, %extra) = @_;
	my $node = new_node($name, { %settings, max_wal_size => '128MB', %extra },
		from_backup => [ $template, 'data' ], fsync => 1);
	start_node($node);
	my $load = finish_load(start_load($node, undef, '-c', 8, '-j', 2, '-T', $seconds));
	# Hurries the checkpoint that is still being written, so that the log knows its size.
	value($node, 'CHECKPOINT');

	note(sprintf('%s: %.0f tps, %.1f kB of WAL per transaction', $name, $load->{tps}, $load->{wal} / 1024 / ($load->{tps} * $seconds)));
	note(sprintf('%7.2f s %s, %d MB', $_->{at} - $load->{began}, $_->{flags}, ($_->{distance} // 0) / MB))
	  foreach checkpoints($node);
	note("$_->{decided_at} $_->{action} ($_->{cause}) $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach grows($node);
	return ($node, $load);
}

# Every size the server was really given.
sub changes
{
	my ($node) = @_;
	return scalar(log_lines($node, 0, qr/parameter "max_wal_size" changed to/));
}

sub right_size
{
	my ($node, $load) = @_;
	cmp_ok($load->{wal}, '>', 10 * TRIGGER, sprintf('the load wrote %.0f MB of WAL, ten times and more what an untuned server forces a checkpoint for', $load->{wal} / MB));
	my @full = grep { $_->{distance} } timed($node, $load->{began} + 1, $load->{ended});
	cmp_ok(scalar(@full), '>=', 1, 'full timed cycles: ' . @full);
	my $need  = max(map { $_->{distance} } @full) * (1 + TARGET);
	my $ratio = max_wal_size($node) / $need;
	cmp_ok($ratio, '>=', 1.0, sprintf('it ends at %d MB, %.2f times the need of %d MB', max_wal_size($node) / MB, $ratio, $need / MB));
	cmp_ok($ratio, '<=', 1.5, 'and not above 1.5 times');
	return;
}

subtest 'anticipate on' => sub {
	my ($node, $load) = storm('anticipate');
	my @late = forced($node, $load->{began} + 1, $load->{ended});
	is(scalar(@late), 0, 'no forced checkpoint after the first second');
	cmp_ok(changes($node), '<=', 6, changes($node) . ' changes of max_wal_size');
	right_size($node, $load);
	is(value($node, 'SELECT num_wal_forced FROM walsizer.stat'), scalar(forced($node)), 'walsizer counts as many as the log');
	$node->stop;
	$node->clean_node if !defined $ENV{PG_TEST_NOCLEAN};
};

subtest 'anticipate off' => sub {
	my ($node, $load) = storm('react', 'walsizer.anticipate' => 'off');
	my $threshold = value($node, 'SHOW walsizer.threshold');
	my @forced = forced($node, $load->{began}, $load->{ended});
	cmp_ok(scalar(@forced), '>=', 1, 'it waits for forced checkpoints');
	cmp_ok(scalar(@forced), '<=', $threshold + 2, @forced . " forced checkpoints at a threshold of $threshold");
	cmp_ok(changes($node), '<=', 3, changes($node) . ' changes of max_wal_size');
	right_size($node, $load);
};

done_testing();
