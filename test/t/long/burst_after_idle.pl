
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A burst that begins after three timeouts without any WAL: the timer's idle ticks do not move the redo point, so a
# look-ahead that counts from there believes the next timed checkpoint overdue, and averages the rate over minutes. No
# checkpoint may be forced. A second server without walsizer shows that the burst would force some.
#
# About 3 minutes.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

use constant IDLE => 3;

my %settings = (max_wal_size => '128MB', checkpoint_timeout => '30s');
my %server   = (
	untuned => new_node('untuned', { %settings, shared_preload_libraries => '' }),
	tuned   => new_node('tuned', \%settings));
$server{untuned}->start;
start_node($server{tuned});

# The first checkpoint writes what the start left behind; every later tick of the timer finds nothing to do.
foreach my $name (qw(untuned tuned))
{
	value($server{$name}, 'CHECKPOINT');
}
my %before = map { $_ => (checkpointer_counts($server{$_}))[0] } keys %server;
my %logged = map { $_ => scalar(checkpoints($server{$_})) } keys %server;
foreach my $name (qw(untuned tuned))
{
	eventually(
		IDLE . " idle ticks ($name)",
		sub { (checkpointer_counts($server{$name}))[0] - $before{$name} >= IDLE },
		(IDLE + 3) * 30);
}
cmp_ok(checkpoints($server{$_}) - $logged{$_}, '<=', 1, "$_: idle, the timer ran and (almost) no checkpoint was made") foreach qw(untuned tuned);

my %load = map { $_ => start_wal($server{$_}, rate => 15, seconds => 40) } qw(untuned tuned);
finish_load($load{$_}) foreach qw(untuned tuned);
foreach my $name (qw(untuned tuned))
{
	note($name);
	note(sprintf('%7.2f s %s', $_->{at} - $load{$name}{began}, $_->{flags})) foreach checkpoints($server{$name}, $load{$name}{began});
}
note("$_->{decided_at} $_->{cause} $_->{old_size} -> $_->{new_size}: $_->{reason}") foreach grows($server{tuned});

cmp_ok(scalar(forced($server{untuned}, $load{untuned}{began})), '>=', 5,
	'without walsizer the burst forces ' . forced($server{untuned}, $load{untuned}{began}) . ' checkpoints');
is(scalar(forced($server{tuned}, $load{tuned}{began})), 0, 'with it none');
is(value($server{tuned}, 'SELECT num_wal_forced FROM walsizer.stat'), 0, 'and walsizer knows');

done_testing();
