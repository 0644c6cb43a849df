
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A burst of 450 MB in 15 s, then nothing: what was needed is room for that burst, not for its rate kept up over a whole
# timeout of five minutes (which would be 17 GB).
#
# About 1 minute.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant QUIET => 30;

my $node = new_node('main', { max_wal_size => '64MB', checkpoint_timeout => '300s', 'walsizer.max' => '64GB' });
start_node($node);

my $load = finish_load(start_wal($node, rate => 30, seconds => 15));
cmp_ok(abs($load->{wal} - 450 * MB), '<', 10 * MB, sprintf('a burst of %.0f MB', $load->{wal} / MB));
cmp_ok(abs($load->{ended} - $load->{began} - 15), '<', 2, sprintf('in %.1f s', $load->{ended} - $load->{began}));

# It must be right at once, and stay so while more and more quiet time is known.
my $largest  = 0;
my $until    = time + QUIET;
eventually(
	'the quiet time to pass',
	sub {
		value($node, 'SELECT walsizer.evaluate()');
		$largest = max_wal_size($node) if max_wal_size($node) > $largest;
		return time > $until;
	},
	2 * QUIET);

note("$_->{decided_at} $_->{cause} $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach grows($node);
cmp_ok($largest, '>', 64 * MB, 'max_wal_size was raised');
cmp_ok($largest, '<=', 1.2 * 1024 * MB, sprintf('it ends at %d MB', $largest / MB));
is(scalar(forced($node, $load->{began} + 1)), 0, 'and no checkpoint was forced after the first second');

done_testing();
