
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# effect(): one row per applied decision. A rise of several raises has one effect, told at the last of them.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = start_node(new_node('main', { max_wal_size => '64MB' }));
is(value($node, 'SELECT count(*) FROM walsizer.effect()'), 0, 'no decision, no effect');

finish_load(start_wal($node, rate => 30, seconds => 4));
my @grows = eventually('two raises', sub { my @g = grows($node); @g > 1 && \@g })->@*;
eventually('the last one to work', sub { value($node, q{SELECT count(*) FROM walsizer.decisions WHERE outcome = 'pending'}) == 0 });
@grows = grep { $_->{applied} } grows($node);
my @effects = rows($node, 'SELECT * FROM walsizer.effect() ORDER BY id');
is_deeply([ map { $_->{id} } @effects ], [ map { $_->{id} } @grows ], 'one row per applied decision');
is($effects[-1]{new_size}, max_wal_size($node), 'the newest led to the present value');

my $last = pop @effects;
like(
	$last->{verdict},
	qr/^too early: the first whole window after \d+ raises in \d:\d\d \(64 MB to \d+ MB\) ends in [01]:\d\d$/,
	'the last one says when its effect can be told');
is($last->{$_}, undef, "$_ is not known yet") foreach qw(after_start forced_after wal_rate_after wal_per_xid_after write_time_after);
like($_->{verdict}, qr/^one of \d+ raises in .*: judged together, at decision $last->{id}$/, "decision $_->{id} refers to the last")
  foreach @effects;
is($_->{before_start}, undef, 'and has no figures of its own') foreach @effects;

done_testing();
