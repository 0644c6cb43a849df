
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A standby that was away while its primary wrote replays within seconds what was written in minutes. That is nobody's
# demand: after it has caught up it needs what the primary needs, and no more.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use Test::More;
use Time::HiRes qw(time);
use WalsizerFaults;
use WalsizerTest;

use constant TIMEOUT => 30;
use constant RATE    => 5;     # MB/s, what the primary is used to
use constant AWAY    => 120;

# What the primary writes while the standby is away is kept for it.
my $primary = new_node(
	'primary',
	{ shared_preload_libraries => '', max_wal_size => '1GB', wal_keep_size => '2GB' });
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION walsizer');
$primary->backup('base');

my $standby = new_node('standby', { max_wal_size => '64MB' }, from_backup => [ $primary, 'base' ]);
$standby->enable_streaming($primary);
$standby->set_standby_mode;
$standby->start;
look($standby);
$standby->stop;

# Commits, as an application's.
my $size = RATE * MB / 10;
my $load = start_load($primary, "SELECT pg_logical_emit_message(true, 'x', repeat('x', $size));\n\\sleep 100 ms\n", -T => 900);
my $away = time;
eventually('the primary has written a lot', sub { wal_written($primary, $load->{lsn}) > 0.8 * RATE * AWAY * MB }, 4 * AWAY);
my $missed = wal_written($primary, $load->{lsn});
my $rate   = $missed / (time - $away);

my $back = time;
$standby->start;
look($standby);
eventually(
	'the standby has caught up',
	sub { value($standby, q{SELECT coalesce(now() - pg_last_xact_replay_timestamp() < '2s', false)}) eq 't' });
my $caught_up = time - $back;
note sprintf('%.0f MB at %.1f MB/s in %.1f s', $missed / MB, $rate / MB, $caught_up);
cmp_ok($missed / $caught_up, '>', 3 * $rate, 'it replayed much faster than the primary writes')
  or diag 'this machine is too busy for the test to mean anything';

# Two whole windows after it: whatever it wants to conclude from the catch-up, it has.
ok( soon(sub { value($standby, 'SELECT count(*) FROM walsizer.windows WHERE extract(epoch FROM window_start) >= ' . ($back + $caught_up)) >= 2 },
		6 * TIMEOUT),
	'two windows of streaming');
my $need = $rate * TIMEOUT * 1.9;
my $status = status($standby);
cmp_ok($status->{max_wal_size}, '<', 1.6 * $need, 'max_wal_size is not above what the primary needs') or diag explain $status, [ grows($standby) ];
cmp_ok($status->{need}, '<', 1.6 * $need, 'nor is the need');
cmp_ok($status->{max_wal_size}, '>', 64 * MB, 'and it was sized all the same');
is($status->{replay_rate_source}, 'assumed', 'a catch-up is no measured crash recovery');
stop_load($load);

done_testing();
