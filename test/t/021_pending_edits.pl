
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A reload applies everything in the files. While somebody has an edit there that he has not loaded yet, walsizer does
# not reload: it is blocked, names the place, and goes on by itself when the edit is loaded or taken back.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

# No comparison with live values would survive these spellings, an include and a setting given twice.
my $node = new_node('main', { checkpoint_timeout => '30s' });
$node->append_conf(
	'postgresql.conf', q{
Work_Mem = 4096kB
vacuum_cost_delay = 1500us
deadlock_timeout '0.5min'
work_mem = '4096'
DateStyle = 'ISO, European'
search_path = '"$user",public'
log_autovacuum_min_duration = -1
walsizer.max = 1024MB
some_extension.setting = 'x'
include_if_exists = 'hand.conf'
});
write_file(conf_file($node, 'hand.conf'), "maintenance_work_mem = 65536kB\n");
start_node($node);

sub show
{
	my ($name) = @_;
	return value($node, "SHOW $name");
}

subtest 'a fresh cluster with hand-written settings has nothing pending' => sub {
	my $load = press($node);
	goes_on($node);
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'blocked'}), 0, 'it was never blocked');
	back_to_start($node, $load);
};

subtest 'ALTER SYSTEM, not loaded, then taken back' => sub {
	my $offset = log_size($node);
	value($node, q{ALTER SYSTEM SET statement_timeout = '1ms'});
	my $load = press($node);
	is_blocked(
		$node, $offset,
		what => qr/statement_timeout.*postgresql\.auto\.conf:\d+/,
		hint => qr/pg_reload_conf/);
	is(show('statement_timeout'), '0', 'the edit did not go live');
	value($node, 'ALTER SYSTEM RESET statement_timeout');
	goes_on($node);
	is(show('statement_timeout'), '0', 'nor later');
	back_to_start($node, $load);
};

subtest 'postgresql.conf, not loaded, then loaded' => sub {
	my $offset = log_size($node);
	$node->append_conf('postgresql.conf', "# for the report\nlock_timeout = '59min'\n");
	my $line = line_of(conf_file($node, 'postgresql.conf'), qr/lock_timeout/);
	my $load = press($node);
	is_blocked(
		$node, $offset,
		what => qr/lock_timeout.*postgresql\.conf:$line\b/,
		hint => qr/pg_reload_conf/);
	is(show('lock_timeout'), '0', 'the edit did not go live');
	$node->reload;
	goes_on($node);
	is(show('lock_timeout'), '59min', 'it is live now');
	back_to_start($node, $load);
};

subtest 'a line removed from an include, not loaded, then put back' => sub {
	my $offset = log_size($node);
	write_file(conf_file($node, 'hand.conf'), "# maintenance_work_mem = 65536kB\n");
	my $load = press($node);
	is_blocked(
		$node, $offset,
		what => qr/maintenance_work_mem was removed.*hand\.conf/,
		hint => qr/pg_reload_conf/);
	write_file(conf_file($node, 'hand.conf'), "maintenance_work_mem = 65536kB\n");
	goes_on($node);
	is(show('maintenance_work_mem'), '64MB', 'it was never lost');
	back_to_start($node, $load);
};

foreach my $name (qw(pg_hba.conf pg_ident.conf))
{
	subtest "$name is newer than the last load" => sub {
		my $offset = log_size($node);
		append_to_file(conf_file($node, $name), "# half an edit\n");
		my $load = press($node);
		is_blocked($node, $offset, what => qr/\Q$name\E.*newer/, hint => qr/pg_reload_conf/);
		$node->reload;
		goes_on($node);
		back_to_start($node, $load);
	};
}

subtest 'an edit that waits for a restart is no reason to wait' => sub {
	$node->append_conf('postgresql.conf', "max_locks_per_transaction = 65\n");
	value($node, q{ALTER SYSTEM SET shared_buffers = '33MB'});
	my $load = press($node);
	goes_on($node);
	is(value($node, q{SELECT count(*) FROM walsizer.decisions WHERE action = 'blocked' AND reason ~ 'shared_buffers|max_locks'}),
		0, 'it was never blocked');
	isnt(show('shared_buffers'), '33MB', 'and the server was not restarted');
	back_to_start($node, $load);
};

subtest "somebody's own ALTER SYSTEM of max_wal_size, not loaded, is not overwritten" => sub {
	my $offset = log_size($node);
	value($node, q{ALTER SYSTEM SET max_wal_size = '80MB'});
	my $load = press($node);
	is_blocked(
		$node, $offset,
		what => qr/max_wal_size.*postgresql\.auto\.conf:\d+/,
		hint => qr/pg_reload_conf/);
	is(auto_conf($node), "max_wal_size = '80MB'\n", 'his line stands');
	$node->reload;
	goes_on($node, 80 * MB);
	my $external = row($node, q{SELECT * FROM walsizer.decisions WHERE action = 'external' ORDER BY id DESC LIMIT 1});
	is($external->{new_size}, 80 * MB, 'his value was the new starting point');
	stop_load($load);
	value($node, 'SELECT walsizer.undo()');
	is(auto_conf($node), "max_wal_size = '80MB'\n", 'and undo() puts his line back');
};

done_testing();
