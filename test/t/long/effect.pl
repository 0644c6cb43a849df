
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The same load at a far too small max_wal_size, first only watched, then tuned: effect() tells the difference, and its
# figures are those of the server log. advice() then names what is left to do.
#
# About 4 minutes and 3 GB.

use strict;
use warnings;

use List::Util qw(sum0);
use Test::More;
use WalsizerTest;

use constant TIMEOUT => 30;

my $node = start_node(new_node('main', { max_wal_size => '128MB', shared_buffers => '256MB', 'walsizer.enable' => 'off', checkpoint_timeout => TIMEOUT . 's' }));
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '20', '-p', $node->port, 'postgres' ], 'pgbench -i -s 20');
my $windows = value($node, 'SELECT count(*) FROM walsizer.windows');
my $load = start_load($node, undef, '-c', 4, '-R', 400, '-T', 600);
# The first of these windows began before the load.
eventually('windows under load', sub { value($node, 'SELECT count(*) FROM walsizer.windows') >= $windows + 4 }, 5 * TIMEOUT);
value($node, 'ALTER SYSTEM SET walsizer.enable = on');
$node->reload;
eventually('a raise', sub { grows($node) });

my $too_early = row($node, 'SELECT * FROM walsizer.effect() LIMIT 1');
like($too_early->{verdict}, qr/^too early: the first whole window after .* ends in \d:\d\d$/, 'it is too early at first');
my $effect = eventually(
	'an effect',
	sub {
		my $e = row($node, 'SELECT *, extract(epoch FROM before_start) AS before_from, extract(epoch FROM before_end) AS before_to, extract(epoch FROM after_start) AS after_from, extract(epoch FROM after_end) AS after_to FROM walsizer.effect() LIMIT 1');
		$e->{verdict} !~ /^too early/ && $e;
	},
	6 * TIMEOUT);

# Under this load, with windows as short as these, most of WAL is full-page images for good.
SKIP:
{
	skip 'PostgreSQL 13 has no WAL statistics', 2 if $node->pg_version < 14;
	my $finding = soon(sub { row($node, q{SELECT * FROM walsizer.advice() WHERE topic = 'wal_compression'}) }, 6 * TIMEOUT);
	like($finding->{evidence}, qr/^full-page images were .* without forced checkpoints$/, 'advice() knows what remains');
	value($node, $finding->{statement});
	$node->reload;
	ok(soon(sub { !row($node, q{SELECT * FROM walsizer.advice() WHERE topic = 'wal_compression'}) }), 'and is silent when its statement was run');
}
stop_load($load);
note("$_->{id} $_->{old_size} -> $_->{new_size}: $_->{verdict}") foreach rows($node, 'SELECT * FROM walsizer.effect()');

like($effect->{verdict}, qr/forced checkpoints fell from \d+ in \d:\d\d to \d+ in \d:\d\d; WAL per transaction .* \(-\d+ %\)/, 'the verdict');
foreach my $side (qw(before after))
{
	my $log = scalar(forced($node, $effect->{"${side}_from"}, $effect->{"${side}_to"}));
	# A checkpoint at the very end of a window may be seen in the next.
	cmp_ok(abs($log - $effect->{"forced_$side"}), '<=', 1, "$side: forced $effect->{\"forced_$side\"}, $log in the log");
}
cmp_ok($effect->{forced_before}, '>=', 3, 'forced before');
is($effect->{forced_after}, 0, 'none after');
cmp_ok($effect->{wal_per_xid_after}, '<', 0.9 * $effect->{wal_per_xid_before}, 'WAL per transaction fell');
cmp_ok($effect->{write_time_after}, '>', 10_000, 'checkpoints are spread over the timeout');

done_testing();
