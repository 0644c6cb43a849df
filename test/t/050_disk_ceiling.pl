
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The disk ceiling on a volume that is small enough to fill: it governs and is named, it stands still while WAL flows,
# growth stops there. When other files take the space walsizer gives back what it took: to the need first, below that
# only when it gets serious, never below what the DBA had.

use strict;
use warnings;

use WalsizerDamage ':own_mounts';

use List::Util qw(max min);
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant VOLUME  => 640;
use constant RESERVE => 128;
# (free - reserve + pg_wal) / 1.5, and nothing else lies there.
use constant CEILING => (VOLUME - RESERVE) / 1.5;
use constant SEGMENT => 1;

my $volume = small_volume(VOLUME);
my $node   = new_node(
	'small',
	{
		max_wal_size              => '64MB',
		min_wal_size              => '2MB',
		'walsizer.disk_reserve'   => RESERVE . 'MB',
		'walsizer.max'            => '16GB'
	});
small_segments($node, SEGMENT);
put_wal_on($node, $volume);
start_node($node);

subtest 'what it knows of the volume' => sub {
	my $status = status($node);
	is($status->{disk_size}, VOLUME * MB, 'size');
	is($status->{disk_reserve}, RESERVE * MB, 'reserve');
	cmp_ok(abs($status->{ceiling} - CEILING * MB), '<=', 2 * SEGMENT * MB, sprintf('ceiling %.1f MB', $status->{ceiling} / MB));
	is($status->{limited_by}, 'disk', 'limited by the disk');
};

# Raised to 256MB by a burst that stops well before the next raise: its need is about half of that.
my $burst = start_wal($node, rate => 10, seconds => 60);
eventually('256MB', sub { max_wal_size($node) >= 256 * MB });
stop_load($burst);
is(max_wal_size($node), 256 * MB, 'a burst raised it to 256MB');

subtest 'other files fill the volume: back to the need' => sub {
	eventually('a measured need', sub { status($node)->{reason} =~ /one checkpoint_timeout saw/ }, 60);
	my $need = status($node)->{need};
	cmp_ok($need, '<', 220 * MB, sprintf('the need is %.0f MB', $need / MB));
	# Not serious: more than half of the reserve stays free.
	my $free = int(RESERVE * 0.75);
	set_ballast($volume, int(volume_free($volume) / MB) - $free);
	ok(soon(sub { max_wal_size($node) < 256 * MB }, 30), 'it gives back');
	my $row = row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'shrink' ORDER BY id DESC LIMIT 1});
	is($row->{cause}, 'disk', 'because of the disk');
	is($row->{limited_by}, 'disk', 'and says so');
	# The file may be seen half grown, with a ceiling still above the need.
	is($row->{new_size}, max($row->{wanted_size}, $row->{ceiling}), 'to the need, although the ceiling sinks lower');
	ok(soon(sub { status($node)->{ceiling} < $row->{new_size} }), 'which it does');
	like($row->{reason}, qr/disk ceiling .* free/, "the reason: $row->{reason}");
	is(scalar(log_lines($node, 0, qr/LOG:.*walsizer lowers max_wal_size from 256 MB to .*disk ceiling/)), 1, 'one line in the log');
	ok(soon(sub { max_wal_size($node) == $row->{wanted_size} }), 'down to the need, also where the file was seen half grown');
	my $size = max_wal_size($node);
	value($node, 'CHECKPOINT') for 1 .. 3;
	look($node);
	is(max_wal_size($node), $size, 'and stays there');
};

subtest 'it gets serious: below the need, never below the original' => sub {
	unlike(auto_conf($node), qr/^$/, 'a line of walsizer in postgresql.auto.conf');
	set_ballast($volume, int((volume_free($volume) + (-s "$volume/ballast")) / MB) - int(RESERVE / 4));
	ok(soon(sub { max_wal_size($node) == 64 * MB }, 30), 'back to the 64MB that the DBA had');
	is(auto_conf($node), '', 'walsizer took its line out of postgresql.auto.conf');
	my $row = row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'shrink' ORDER BY id DESC LIMIT 1});
	is($row->{cause}, 'disk', 'because of the disk');
	cmp_ok($row->{new_size}, '<', $row->{wanted_size}, 'below the need');
	# Fuller still: there is nothing of its own left to give.
	set_ballast($volume, int((volume_free($volume) + (-s "$volume/ballast")) / MB) - 8);
	ok(soon(sub { status($node)->{disk_free} < 16 * MB }, 30), 'the volume is all but full');
	look($node);
	is(max_wal_size($node), 64 * MB, 'never below the original');
};

subtest 'a load that wants more than the disk has' => sub {
	set_ballast($volume, 0);
	eventually('the space to be noticed', sub { status($node)->{disk_free} > 400 * MB }, 30);
	my $load = start_wal($node, rate => 30, seconds => 120);
	eventually('the ceiling', sub { max_wal_size($node) > 0.95 * CEILING * MB });
	my $size = max_wal_size($node);
	cmp_ok($size, '<=', CEILING * MB, sprintf('it grows to %d MB', $size / MB));
	is($size % (SEGMENT * MB), 0, 'whole segments');

	# Two cycles long: WAL comes, checkpoints recycle, and the ceiling stands still.
	my (@ceilings, @free);
	my $lsn = now_lsn($node);
	eventually(
		'two cycles of WAL',
		sub {
			my $status = status($node);
			push @ceilings, $status->{ceiling};
			push @free,     $status->{disk_free};
			return wal_written($node, $lsn) > 2 * $size / 1.9;
		});
	cmp_ok(scalar(@ceilings), '>', 20, 'looked at ' . @ceilings . ' times');
	note(sprintf('ceiling %.1f to %.1f MB, free %.1f to %.1f MB', map { $_ / MB } min(@ceilings), max(@ceilings), min(@free), max(@free)));
	# pg_wal's size and the free space are not read at the same instant: a second of WAL may lie between.
	cmp_ok(max(@ceilings) - min(@ceilings), '<=', 0.1 * CEILING * MB, 'the ceiling stands still while WAL flows');
	cmp_ok(min(@free), '>', 0.5 * RESERVE * MB, 'the reserve is all but untouched');

	my $status = eventually('the state', sub { my $s = status($node); $s->{state} eq 'at_ceiling' && $s });
	is($status->{limited_by}, 'disk', 'at_ceiling, limited by the disk');
	like($status->{reason}, qr/disk ceiling/, "the reason: $status->{reason}");
	my $hold = row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'hold' ORDER BY id DESC LIMIT 1});
	is($hold->{limited_by}, 'disk', 'the decision names it');
	cmp_ok($hold->{wanted_size}, '>', $hold->{ceiling}, 'and what was wanted');
	# The state began once before, when the volume was full: one WARNING an hour.
	is(scalar(log_lines($node, 0, qr/WARNING:.*walsizer leaves max_wal_size at .*disk ceiling/)), 1, 'one WARNING');
	is(scalar(log_lines($node, 0, qr/HINT:.*disk_reserve/)), 1, 'with what can be done');
	cmp_ok(scalar(log_lines($node, 0, qr/LOG:.*walsizer raises max_wal_size .*the disk ceiling of .* governs/)), '>=', 1, 'the last raise names it in the log');
	cmp_ok(max_wal_size($node), '<=', CEILING * MB, 'growth has stopped');
	# The figures behind the ceiling wobble by some segments. That is no reason to raise again.
	my @tiny = grep { $_->{new_size} < 1.05 * $_->{old_size} } grows($node);
	is(scalar(@tiny), 0, 'no step of a few megabytes') or diag(map { "$_->{old_size} -> $_->{new_size}: $_->{reason}\n" } @tiny);
	is(value($node, qq{SELECT count(*) FROM walsizer.decisions WHERE action = 'shrink' AND id > $hold->{id}}), 0, 'and nothing was given back');
	stop_load($load);
};

is(scalar(log_lines($node, 0, qr/PANIC|No space left/)), 0, 'the server never ran out of space');

done_testing();
