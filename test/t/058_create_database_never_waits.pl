
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# CREATE DATABASE ... TEMPLATE needs the template for itself, and its copy waits for every process in turn. walsizer is
# connected to no database and answers at once, also while it writes its history (here: a raise by hand, many times a
# second): any database can be copied and dropped, as fast as on a server without it.

use strict;
use warnings;

use List::Util qw(max);
use Test::More;
use Time::HiRes qw(time);
use WalsizerDamage;
use WalsizerTest;

use constant COPIES => 6;

my %settings = (max_wal_size => '1GB', checkpoint_timeout => '1h');
my %server   = (
	without => new_node('without', { %settings, shared_preload_libraries => '' }),
	with    => new_node('with', \%settings));
$server{without}->start;
start_node($server{with});

# Where CREATE DATABASE can be told how, it copies files: that is the way with barriers and checkpoints.
my $how = $server{with}->pg_version >= 15 ? 'STRATEGY = file_copy' : '';

my %seconds;
foreach my $name (qw(without with))
{
	my $node = $server{$name};
	# The extension is in it: copying it must not touch the worker either.
	value($node, 'CREATE DATABASE original');
	$node->safe_psql('original', 'CREATE EXTENSION walsizer') if $name eq 'with';
	my $load = start_load($node, <<'SQL', -T => 300, -D => 'n=1024');
\set n :n + 1
ALTER SYSTEM SET max_wal_size = :n;
SELECT pg_reload_conf();
\sleep 20 ms
SQL
	eventually('the raises by hand', sub { max_wal_size($node) > 1030 * MB });
	foreach my $template ('template1', 'original', 'postgres')
	{
		# safe_psql() goes through the postgres database: its copy is ordered from template1's neighbour.
		my $from = $template eq 'postgres' ? 'original' : 'postgres';
		next if $template eq 'postgres' && $name eq 'without';
		if ($template eq 'postgres')
		{
			# The load's own session is in that database.
			stop_load($load);
			eventually('the load to be gone', sub { value($node, q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres'}) == 1 });
		}
		foreach my $copy (1 .. COPIES)
		{
			my $began = time;
			my ($rc, undef, $err) = $node->psql($from, "CREATE DATABASE copy TEMPLATE $template $how");
			is($rc, 0, "$name: copy of $template") or diag($err);
			($rc, undef, $err) = $node->psql($from, 'DROP DATABASE copy');
			is($rc, 0, "$name: dropped again") or diag($err);
			push @{ $seconds{$name} }, time - $began if $template ne 'postgres';
			last if $template eq 'postgres';
		}
	}
	stop_load($load) if $load->{run};
}
my $recorded = value($server{with}, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'external'});
cmp_ok($recorded, '>', COPIES, "$recorded raises by hand were recorded meanwhile");
my %worst = map { $_ => max(@{ $seconds{$_} }) } keys %seconds;
# A worker that answers only when its nap is over would cost up to a second, every time.
cmp_ok($worst{with}, '<', 2 * $worst{without} + 1, sprintf('the slowest took %.2f s, %.2f s without walsizer', @worst{qw(with without)}));

done_testing();
