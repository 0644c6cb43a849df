
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# advice(): the two rules about checkpoint_timeout, made real. Checkpoints that take longer than it: on storage that is
# slow to sync, after a write phase that pacing has spread over nine tenths of the timeout. And twelve heavy windows in a
# row, with nothing forced: six minutes at the shortest timeout that PostgreSQL has.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../lib";

use Test::More;
use WalsizerAdvice;
use WalsizerTest;

use constant TIMEOUT => 30;

my %settings = (
	max_wal_size       => '4GB',
	checkpoint_timeout => TIMEOUT . 's',
	shared_buffers     => '256MB',
	wal_compression    => 'on',
	'walsizer.enable'  => 'off');

# 1 MB of WAL twenty times a second, and an update on each of 30 pages, so that in each cycle most pages of the table are
# logged whole once.
my $heavy = start_node(new_node('heavy', \%settings));
value($heavy, 'CREATE TABLE pages (id int PRIMARY KEY, n int, pad text) WITH (fillfactor = 50)');
value($heavy, q{INSERT INTO pages SELECT i, 0, repeat('x', 900) FROM generate_series(0, 79999) AS i});
my $load = start_load($heavy, <<'SQL', -R => 20, -T => 3600, -D => 'n=0');
\set n :n + 1
\set first (:n % 666) * 120
UPDATE pages SET n = n + 1 WHERE id >= :first AND id < :first + 120 AND id % 4 = 0;
SELECT pg_logical_emit_message(false, 'load', repeat('x', 1000000));
SQL

subtest 'checkpoints longer than the timeout' => sub {
	my $library = slow_storage_library() or plan skip_all => 'no C compiler here, which makes the slow storage';
	my $node = start_on_slow_storage(new_node('slow', \%settings, fsync => 1), $library);
	# One row on each page, so that pacing has something to spread.
	value($node, 'CREATE TABLE slow (i int, pad text) WITH (fillfactor = 10)');
	value($node, q{INSERT INTO slow SELECT i, repeat('x', 600) FROM generate_series(1, 400) AS i});
	slow_down($node, 'slow', 6000);
	my $updates = start_load($node, "UPDATE slow SET i = i + 1;\n", -R => 2, -T => 3600);
	my $found = eventually('two such checkpoints', sub { my $all = advice($node); $all->{checkpoint_timeout} && $all }, 8 * TIMEOUT);
	is(join(', ', sort keys %$found), 'checkpoint_sync_time, checkpoint_timeout', 'what is found');
	my $long = $found->{checkpoint_timeout};
	is($long->{severity}, 'warning', 'severity');
	like($long->{finding}, qr/^checkpoints take longer than checkpoint_timeout/, 'finding');
	like($long->{evidence},
		qr/^0:3\d on average \(write 2\d(?:\.\d)? s, sync [67]\.\d s\) in \d checkpoints in the last \d:\d\d; checkpoint_timeout is 0:30$/, 'evidence');
	is($found->{checkpoint_sync_time}{severity}, 'warning', 'its sync phase takes more than pacing leaves');
	is($long->{statement}, q{ALTER SYSTEM SET checkpoint_timeout = '5min'}, 'statement');
	value($node, $long->{statement});
	$node->reload;
	ok(soon(sub { !advice($node)->{checkpoint_timeout} }), 'which makes the finding go away') or diag(topics($node));
	stop_load($updates);
	slow_down($node);
};

subtest 'every cycle heavy' => sub {
	plan skip_all => 'PostgreSQL 13 has no WAL statistics, which tell full-page images' if $heavy->pg_version < 14;
	is(topics($heavy), '', 'a few heavy windows are too few');
	my $found = eventually('twelve windows', sub { advice($heavy)->{checkpoint_timeout} }, 16 * TIMEOUT);
	is($found->{severity}, 'notice', 'severity');
	like($found->{evidence}, qr/^each of the last 12 windows of 0:30 saw \d+ MB to \d+ MB of WAL, (?:up to )?[2-9]\d % of it full-page images$/, 'evidence');
	is(topics($heavy), 'checkpoint_timeout', 'and nothing else');
	is(scalar(forced($heavy)), 0, 'WAL forced no checkpoint');
	is($found->{statement}, q{ALTER SYSTEM SET checkpoint_timeout = '15min'}, 'statement');
	value($heavy, $found->{statement});
	$heavy->reload;
	ok(soon(sub { topics($heavy) eq '' }), 'which makes the finding go away') or diag(topics($heavy));
	stop_load($load);
};

done_testing();
