
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# DROP DATABASE waits until every process has answered a barrier. The worker must answer at once, also while it writes
# its history: here somebody raises max_wal_size many times a second, each raise being a decision that goes to disk. The
# same load without walsizer is the measure.

use strict;
use warnings;

use List::Util qw(max);
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant DATABASES => 15;

my %settings = (max_wal_size => '1GB', checkpoint_timeout => '1h');
# With fsync, so that a history write takes the time it really takes.
my %server = (
	without => new_node('without', { %settings, shared_preload_libraries => '' }, fsync => 1),
	with    => new_node('with', \%settings, fsync => 1));
$server{without}->start;
start_node($server{with});

my (%drops, %raises);
foreach my $name (qw(without with))
{
	my $node = $server{$name};
	# :n grows with every run of the script.
	my $raise = start_load($node, <<'SQL', -T => 300, -D => 'n=1024');
\set n :n + 1
ALTER SYSTEM SET max_wal_size = :n;
SELECT pg_reload_conf();
\sleep 20 ms
SQL
	eventually('the raises by hand', sub { max_wal_size($node) > 1030 * MB });
	foreach (1 .. DATABASES)
	{
		value($node, 'CREATE DATABASE shortlived');
		my $began = time;
		value($node, 'DROP DATABASE shortlived');
		push @{ $drops{$name} }, time - $began;
	}
	$raises{$name} = max_wal_size($node) / MB - 1024;
	stop_load($raise);
}

cmp_ok($raises{with}, '>', DATABASES, "$raises{with} raises by hand happened in between");
my $recorded = value($server{with}, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'});
cmp_ok($recorded, '>', DATABASES / 2, "$recorded of them were recorded: the history was written all the time");

my %median = map { $_ => (sort { $a <=> $b } @{ $drops{$_} })[ DATABASES / 2 ] } keys %drops;
my %worst  = map { $_ => max(@{ $drops{$_} }) } keys %drops;
my $times  = sprintf('median %.0f ms with walsizer, %.0f ms without; longest %.0f and %.0f ms',
	map { 1000 * $_ } $median{with}, $median{without}, $worst{with}, $worst{without});
note($times);
cmp_ok($median{with}, '<', 3 * $median{without} + 0.1, "DROP DATABASE is as fast as ever: $times");
# A worker that only answers when its nap is over would cost up to a second here, every time.
cmp_ok($worst{with}, '<', 3 * $worst{without} + 0.5, 'not even the slowest one waited for walsizer');

done_testing();
