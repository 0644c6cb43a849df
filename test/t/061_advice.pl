
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# advice(): silent on a healthy server; conditions are made real here, in 063 and 064, and in long/advice.pl. The numbers
# at which a rule begins to speak are a matter of the unit tests.

use strict;
use warnings;

use Test::More;
use WalsizerAdvice;
use WalsizerTest;

# Nothing is to be raised here: the conditions are to stay.
chomp(my $libraries = `pg_config --pkglibdir`);
my $counts_statements = -e "$libraries/pg_stat_statements.so";
my $node = start_node(
	new_node(
		'main',
		{
			'walsizer.enable'          => 'off',
			'shared_preload_libraries' => $counts_statements ? 'pg_stat_statements, walsizer' : 'walsizer'
		}));
is(topics($node), '', 'a fresh, healthy server hears nothing');

subtest 'settings' => sub {
	value($node, "ALTER SYSTEM SET $_") foreach 'log_checkpoints = off', 'checkpoint_completion_target = 0.5', "min_wal_size = '128MB'";
	$node->reload;
	finding($node, 'log_checkpoints');
	is(topics($node), 'checkpoint_completion_target, log_checkpoints, min_wal_size', 'three settings, three findings');
	my $found = advice($node);
	is($found->{log_checkpoints}{severity}, 'info', 'severity');
	is($found->{log_checkpoints}{statement}, 'ALTER SYSTEM SET log_checkpoints = on', 'statement');
	is($found->{min_wal_size}{evidence}, 'min_wal_size is 128 MB, max_wal_size 64 MB', 'evidence');

	# A statement is there to be run.
	value($node, $_->{statement}) foreach values %$found;
	$node->reload;
	ok(soon(sub { topics($node) eq '' }), 'what is advised makes the findings go away') or diag(topics($node));
	value($node, 'ALTER SYSTEM RESET ALL');
	$node->reload;
};

subtest 'checkpoints on request, and segments switched nearly empty' => sub {
	value($node, 'ALTER SYSTEM SET archive_timeout = 1');
	$node->reload;
	my $load = start_load($node, "SELECT pg_logical_emit_message(false, 'tick', 'tock');\nCHECKPOINT;\n\\sleep 1 s\n", -T => 60);
	my $requests = finding($node, 'requested_checkpoints');
	like($requests->{evidence}, qr/^\d+ of \d+ checkpoints in the last 0:\d\d were requested and not due by WAL/, 'evidence');
	SKIP:
	{
		skip 'no pg_stat_statements', 3 if !$counts_statements;
		unlike($requests->{evidence}, qr/pg_stat_statements/, 'which statement it was is not known without the extension');
		value($node, 'CREATE EXTENSION pg_stat_statements');
		like(finding($node, 'requested_checkpoints')->{evidence}, qr/; pg_stat_statements counts \d+ CHECKPOINT/, 'and with it it is named');
		value($node, 'DROP EXTENSION pg_stat_statements');
	}
	SKIP:
	{
		skip 'PostgreSQL 13 has no WAL statistics', 2 if $node->pg_version < 14;
		my $switched = finding($node, 'archive_timeout');
		like($switched->{evidence}, qr/^WAL advanced by \d+ MB in the last .*, with .* of records in it; .* archive_timeout is 1\.0 s$/, 'evidence');
	}
	stop_load($load);
	value($node, 'ALTER SYSTEM RESET archive_timeout');
	$node->reload;
};

subtest 'a slot that keeps WAL' => sub {
	value($node, q{SELECT pg_create_physical_replication_slot('lagging', true)});
	finish_load(start_wal($node, rate => 80, seconds => 2.5));
	value($node, 'CHECKPOINT');
	my $held = finding($node, 'wal_held');
	like($held->{evidence}, qr/^\d+ MB of WAL held by replication slot lagging; pg_wal's volume has .* free$/, 'the evidence names it');
	like($held->{statement}, qr/^ALTER SYSTEM SET max_slot_wal_keep_size = '\d+GB'$|^SELECT \* FROM pg_replication_slots/, 'statement');
	value($node, q{SELECT pg_drop_replication_slot('lagging')});
	value($node, 'CHECKPOINT');
	ok(soon(sub { !advice($node)->{wal_held} }), 'and it is silent when the slot is gone');
};

subtest 'storage that applies WAL by itself' => sub {
	value($node, q{CREATE FUNCTION aurora_version() RETURNS text LANGUAGE sql AS $$ SELECT '15.4.1' $$});
	my ($first) = rows($node, 'SELECT * FROM walsizer.advice()');
	is($first->{topic}, 'storage', 'comes first');
	is($first->{severity}, 'warning', 'as a warning');
};

subtest 'backends that write, a background writer that stops' => sub {
	# Settings of a library that is installed and not preloaded: to ask it would be an error.
	my $small = start_node(
		new_node(
			'small',
			{ shared_buffers => '1MB', bgwriter_lru_maxpages => 1, max_wal_size => '1GB', 'pg_stat_statements.max' => 1000 }));
	value($small, 'CREATE EXTENSION pg_stat_statements') if $counts_statements;
	value($small, q{CREATE TABLE filler AS SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 10) AS i});
	my $insert = q{INSERT INTO filler SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) AS i};
	my $load = start_load($small, "$insert;\n", -T => 60);
	my $writes = soon(sub { value($small, 'CHECKPOINT'); advice($small)->{shared_buffers} });
	ok($writes, 'backends write') or diag(topics($small));
	like($writes->{evidence}, qr/^backends wrote \d+ buffers in the last 0:\d\d, \d+ % of all/, 'evidence');
	like($writes->{statement}, qr/^ALTER SYSTEM SET shared_buffers = '2MB'/, 'statement');
	my $stops = finding($small, 'bgwriter_lru_maxpages');
	like($stops->{evidence}, qr/^it stopped at bgwriter_lru_maxpages \(1\) in \d+ of at most \d+ rounds/, 'evidence');
	is($stops->{statement}, 'ALTER SYSTEM SET bgwriter_lru_maxpages = 4', 'statement');
	stop_load($load);
};

subtest 'who may ask' => sub {
	value($node, 'CREATE ROLE reader LOGIN IN ROLE pg_monitor');
	value($node, 'CREATE ROLE stranger LOGIN');
	is($node->psql('postgres', 'SELECT * FROM walsizer.advice()', extra_params => [ '-U', 'reader' ]), 0, 'pg_monitor');
	isnt($node->psql('postgres', 'SELECT * FROM walsizer.advice()', extra_params => [ '-U', 'stranger' ]), 0, 'nobody else');
};

done_testing();
