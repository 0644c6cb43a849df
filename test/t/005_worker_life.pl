
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# There is one worker, it comes back when somebody ends it, it needs no database, and it delays no shutdown.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

use constant WORKERS => q{SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity WHERE backend_type ~ 'walsizer'};

my $node = new_node('main', { 'walsizer.max' => '2GB' });

subtest 'it works without CREATE EXTENSION and without a database' => sub {
	$node->start;
	my $pid = eventually('a worker', sub { value($node, WORKERS) });
	like($pid, qr/^\d+$/, 'one worker');
	is( value($node, q{SELECT datname IS NULL FROM pg_stat_activity WHERE backend_type ~ 'walsizer'}),
		't', 'connected to no database');
	my $load = start_wal($node, rate => 30, seconds => 10);
	ok(soon(sub { max_wal_size($node) > 64 * MB }), 'max_wal_size is raised without CREATE EXTENSION');
	stop_load($load);
	value($node, 'CREATE DATABASE other');
	is( $node->psql('other', 'CREATE EXTENSION walsizer'), 0, 'the extension can be created in any database');
	is( $node->safe_psql('other', 'SELECT worker_pid FROM walsizer.status'), $pid, 'and shows the same worker');
	is( $node->psql('postgres', 'DROP DATABASE other'), 0, 'that database can be dropped');
};

subtest 'one line at the start tells value, source and ceiling' => sub {
	my @lines = log_lines($node, 0, qr/LOG:.*walsizer.*max_wal_size/);
	ok(@lines, 'a start line');
	like($lines[0], qr/64 ?MB/, 'with the value');
	like($lines[0], qr/postgresql\.conf/, 'with the source');
	like($lines[0], qr/ceiling (?:2(?:\.0)? ?GB|2048 ?MB) \(max\)/, 'with the ceiling');
};

restart_node($node);

subtest 'the worker is one only, also across reloads' => sub {
	my $pid = value($node, WORKERS);
	is($pid, status($node)->{worker_pid}, 'status names it');
	$node->reload for 1 .. 5;
	look($node);
	is(value($node, WORKERS), $pid, 'still the same one');
};

subtest 'pg_terminate_backend: it comes back' => sub {
	my $offset = log_size($node);
	my $pid    = value($node, WORKERS);
	value($node, "SELECT pg_terminate_backend($pid)");
	my $next = eventually('another worker', sub { my $p = value($node, WORKERS); $p ne '' && $p ne $pid && $p });
	like($next, qr/^\d+$/, 'one worker again');
	look($node);
	is(status($node)->{worker_pid}, $next, 'status names the new one');
	is(scalar(log_lines($node, $offset, qr/terminating any other active server processes/)), 0, 'no other session was hurt');
};

subtest 'it waits for nobody: fast, smart and immediate shutdown' => sub {
	my $plain = new_node('plain', { shared_preload_libraries => '' });
	my %seconds;
	$node->stop;
	foreach my $mode (qw(fast smart immediate))
	{
		foreach my $server ($plain, $node)
		{
			$server == $node ? start_node($node) : $server->start;
			value($server, 'CHECKPOINT');
			my $began = time;
			$server->stop($mode);
			$seconds{ $server->name }{$mode} = time - $began;
		}
		my ($with, $without) = map { $seconds{$_}{$mode} } qw(main plain);
		# pg_ctl looks ten times a second; a worker that had to be waited for would cost a whole second or more.
		cmp_ok($with, '<', $without + 1, sprintf('%s: %.2f s with walsizer, %.2f s without', $mode, $with, $without));
	}
};

done_testing();
