
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# What else can keep max_wal_size from being changed: the command line, a broken postgresql.conf, a history that cannot
# be written, and, from 17 on, allow_alter_system.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '30s' });
my $conf = conf_file($node, 'postgresql.conf');

subtest 'max_wal_size on the command line' => sub {
	my $offset = log_size($node);
	start_with($node, '-c max_wal_size=64MB');
	my $load = press($node);
	is_blocked($node, $offset, what => qr/max_wal_size is set on the server's command line/, hint => qr/command line/);
	is(status($node)->{source}, 'command line', 'the source is named');
	is(auto_conf($node), '', 'no line is written that would do nothing');
	ok(soon(sub { value($node, 'SELECT count(*) FROM walsizer.windows WHERE num_wal_forced > 5') }, 60), 'a whole window of forced checkpoints');
	look($node);
	cmp_ok(status($node)->{recommended}, '>', 64 * MB, 'the recommendation is not lost over it');
	unlike(value($node, 'SELECT walsizer.recommend()'), qr/'64 ?MB'/, 'in recommend(), too');
	stop_load($load);
	restart_node($node);
	$load = press($node);
	goes_on($node);
	back_to_start($node, $load);
};

my $good = slurp_file($conf);

subtest 'a syntax error in postgresql.conf' => sub {
	my $offset = log_size($node);
	append_to_file($conf, "work_mem = = 4MB\n");
	my $load = press($node);
	is_blocked($node, $offset, what => qr/configuration files have an error/, hint => qr/pg_file_settings WHERE error IS NOT NULL/);
	is(auto_conf($node), '', 'no line is written that would do nothing');
	write_file($conf, $good);
	goes_on($node);    # by itself
	back_to_start($node, $load);
};

subtest 'an unknown setting in postgresql.conf' => sub {
	my $offset = log_size($node);
	append_to_file($conf, "max_wall_size = 4GB\n");
	my $line = line_of($conf, qr/max_wall_size/);
	my $load = press($node);
	is_blocked(
		$node, $offset,
		what => qr/configuration files have an error.*max_wall_size.*postgresql\.conf:$line\b/,
		hint => qr/pg_file_settings WHERE error IS NOT NULL/);
	is(auto_conf($node), '', 'no line is written that would do nothing');
	write_file($conf, $good);
	goes_on($node);
	back_to_start($node, $load);
};

subtest 'a reload that applied nothing has loaded nothing' => sub {
	my $offset = log_size($node);
	append_to_file($conf, "statement_timeout = '1ms'\nmax_wall_size = 4GB\n");
	$node->reload;
	eventually('the failed reload', sub { log_lines($node, $offset, qr/no changes were applied/) });
	look($node);
	# One of two mistakes is mended, and nothing was loaded since.
	write_file($conf, $good . "statement_timeout = '1ms'\n");
	my $load = press($node);
	is_blocked($node, $offset, what => qr/statement_timeout.*postgresql\.conf:\d+/, hint => qr/pg_reload_conf/);
	is(value($node, 'SHOW statement_timeout'), '0', 'the edit did not go live');
	write_file($conf, $good);
	goes_on($node);    # the text is again that of the last load
	back_to_start($node, $load);
};

SKIP: {
	skip 'root may write everything', 2 if $> == 0;

	subtest 'the history file cannot be written' => sub {
		my $offset = log_size($node);
		my $dir = conf_file($node, 'pg_stat');
		chmod 0500, $dir or die $!;
		my $load = press($node);
		is_blocked($node, $offset, what => qr/history file cannot be written/, hint => qr/server log.*disk/);
		is(scalar(log_lines($node, $offset, qr/LOG:.*walsizer could not create its history file/)), 1, 'with the reason, once');
		is(auto_conf($node), '', 'nothing was altered that undo() could not put back');
		chmod 0700, $dir or die $!;
		$node->reload;
		goes_on($node);
		back_to_start($node, $load);
	};

	subtest 'an order in a file that could not be carried out at once is not forgotten' => sub {
		my $load = press($node);
		goes_on($node);
		stop_load($load);
		look($node);
		my $auto_conf = conf_file($node, 'postgresql.auto.conf');
		chmod 0400, $auto_conf or die $!;
		$node->adjust_conf('postgresql.conf', 'max_wal_size', "'48MB'");
		$node->reload;
		soon(sub { status($node)->{last_error} });
		isnt(max_wal_size($node), 48 * MB, "walsizer's line could not be withdrawn");
		chmod 0600, $auto_conf or die $!;
		$node->reload;
		is(soon(sub { max_wal_size($node) == 48 * MB && 48 }, 20), 48, "mended: the file's value works");
		is(auto_conf($node), '', 'walsizer withdrew its line');
		is(status($node)->{state}, 'held', 'and holds');
	};
}

SKIP: {
	skip 'allow_alter_system came with 17', 1 if $node->pg_version < 17;

	subtest 'allow_alter_system = off' => sub {
		$node->adjust_conf('postgresql.conf', 'max_wal_size', "'64MB'");
		value($node, 'ALTER SYSTEM RESET max_wal_size');
		restart_node($node);
		$node->psql('postgres', 'SELECT walsizer.resume()');
		my $offset = log_size($node);
		$node->append_conf('postgresql.conf', "allow_alter_system = off\n");
		$node->reload;
		my $load = press($node);
		is_blocked($node, $offset, what => qr/allow_alter_system/, hint => qr/walsizer\.recommend\(/);
		is(auto_conf($node), '', 'postgresql.auto.conf is not touched');
		$node->adjust_conf('postgresql.conf', 'allow_alter_system', 'on');
		$node->reload;
		goes_on($node);
		stop_load($load);
	};
}

done_testing();
