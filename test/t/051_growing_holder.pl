
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Somebody keeps WAL without bound, more with every checkpoint: a slot without a consumer, then an archiver that fails.
# walsizer stops growing, says who and how much, and never lowers: that would only make more WAL to keep.

use strict;
use warnings;

use Test::More;
use WalsizerDamage;
use WalsizerTest;

# The slowest look at the volume, with room for a busy machine.
use constant PATIENCE => 40;

my $node = new_node(
	'main',
	{
		max_wal_size           => '64MB',
		min_wal_size           => '4MB',
		archive_mode           => 'on',
		archive_command        => 'true',
		'walsizer.disk_reserve' => '1MB'
	});
small_segments($node);
start_node($node);
my $free = status($node)->{disk_free};
plan skip_all => sprintf('needs 2 GB on the volume of the data directory, has %.1f GB', $free / 1024 / MB) if $free < 2048 * MB;

# Finishes some segments and a checkpoint, three times, and each time waits until walsizer has seen what is held.
sub let_it_grow
{
	my ($holder) = @_;
	my $held = 0;
	foreach (1 .. 4)
	{
		$node->safe_psql('postgres', q{SELECT pg_logical_emit_message(false, '', 'x'); SELECT pg_switch_wal();}) for 1 .. 4;
		value($node, 'CHECKPOINT');
		eventually(
			"more WAL held by $holder",
			sub {
				my $status = status($node);
				return 0 if $status->{wal_held} < $held + MB || ($status->{wal_held_by} // '') !~ /^\Q$holder/;
				$held = $status->{wal_held};
				return 1;
			},
			PATIENCE);
	}
	return;
}

# A load that a free walsizer would raise for at once.
sub frozen_by
{
	my ($holder, $hint) = @_;
	my $offset = log_size($node);
	my $size   = max_wal_size($node);
	my $load   = start_wal($node, rate => 20, seconds => 60);
	my $hold   = eventually(
		'the decision not to grow',
		sub { row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'hold' AND cause <> 'manual' AND limited_by = 'disk' ORDER BY id DESC LIMIT 1}) });
	my $status = status($node);
	is($status->{state}, 'at_ceiling', 'state');
	is($status->{limited_by}, 'disk', 'limited by the disk');
	is($status->{ceiling}, $size, 'the ceiling is what there is');
	like($hold->{reason}, qr/\Q$holder\E.* holds [\d.]+ [kMG]B of WAL.*keeps growing/, "the decision: $hold->{reason}");
	my @warnings = log_lines($node, $offset, qr/WARNING:.*walsizer leaves max_wal_size at .*\Q$holder\E.* holds [\d.]+ [kMG]B/);
	is(scalar(@warnings), 1, 'one WARNING with holder and bytes') or diag(log_since($node, $offset));
	is(scalar(log_lines($node, $offset, $hint)), 1, 'and what can be done');

	# Under pressure for three forced checkpoints more: neither up nor down.
	my $forced = forced($node);
	eventually('forced checkpoints', sub { forced($node) >= $forced + 3 });
	look($node);
	is(max_wal_size($node), $size, 'it does not grow');
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink'}), 0, 'and never lowers');
	# And not when the disk gets short, either: this reserve leaves nothing for WAL.
	set_and_reload($node, 'walsizer.disk_reserve', '1TB');
	eventually('the ceiling to sink below', sub { status($node)->{ceiling} < $size });
	look($node) for 1 .. 2;
	is(max_wal_size($node), $size, 'nor when nothing of the disk is left');
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink'}), 0, 'still nothing was lowered');
	set_and_reload($node, 'walsizer.disk_reserve', '1MB');
	return $load;
}

# So that there is something of walsizer's own that could be lowered.
sub grow
{
	my $size = max_wal_size($node);
	my $load = start_wal($node, rate => 20, seconds => 60);
	eventually('a raise', sub { max_wal_size($node) > $size });
	stop_load($load);
	return;
}

sub released
{
	my ($size) = @_;
	my $ok = soon(sub { max_wal_size($node) > $size }, 60);
	ok($ok, 'growth goes on when the holder has let go');
	return;
}

subtest 'a slot without a consumer' => sub {
	grow();
	value($node, q{SELECT pg_create_physical_replication_slot('forgotten', true)});
	let_it_grow('replication slot forgotten');
	my $load = frozen_by('replication slot forgotten', qr/HINT:.*max_slot_wal_keep_size/);
	my $size = max_wal_size($node);
	value($node, q{SELECT pg_drop_replication_slot('forgotten')});
	value($node, 'CHECKPOINT');
	released($size);
	stop_load($load);
};

# A new life, in which an hour's WARNINGs are not used up.
set_and_reload($node, 'max_wal_size', '64MB');
restart_node($node);
value($node, 'SELECT walsizer.resume()');
value($node, 'SELECT walsizer.reset()');

subtest 'an archiver that fails' => sub {
	grow();
	set_and_reload($node, 'archive_command', 'false');
	let_it_grow('archiver');
	my $load = frozen_by('archiver', qr/HINT:.*archive_command/);
	stop_load($load);
};

is(scalar(log_lines($node, 0, qr/PANIC/)), 0, 'no PANIC');

done_testing();
