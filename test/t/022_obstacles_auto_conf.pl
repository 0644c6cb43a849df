
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# What can be wrong with postgresql.auto.conf: each is a state with its reason, told once, with what to do; walsizer
# goes on when it is mended.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerFaults;
use WalsizerTest;

my $node = new_node('main', { checkpoint_timeout => '30s' });
my $path = conf_file($node, 'postgresql.auto.conf');
my $elsewhere = $node->basedir . '/elsewhere.conf';

# Who has to configure the server elsewhere needs the line for it.
my $line = qr/walsizer\.recommend\(/;

start_node($node);

subtest 'a symbolic link to /dev/null' => sub {
	$node->stop;
	unlink $path;
	symlink '/dev/null', $path or die $!;
	my $offset = log_size($node);
	start_node($node);
	my $load = press($node);
	is_blocked($node, $offset, what => qr/postgresql\.auto\.conf is not a regular file/, hint => $line);
	is(readlink $path, '/dev/null', 'the link is still there');
	like(value($node, 'SELECT walsizer.recommend()'), qr/max_wal_size/, 'the line can be had');
	unlink $path or die $!;
	write_file($path, '');
	$node->reload;
	goes_on($node);
	back_to_start($node, $load);
};

subtest 'a symbolic link to a file elsewhere, made while the server runs' => sub {
	my $offset = log_size($node);
	write_file($elsewhere, slurp_file($path));
	unlink $path;
	symlink $elsewhere, $path or die $!;
	my $load = press($node);
	is_blocked($node, $offset, what => qr/postgresql\.auto\.conf is not a regular file/, hint => $line);
	is(readlink $path, $elsewhere, 'the link is still there');
	unlike(slurp_file($elsewhere), qr/max_wal_size/, 'and leads to what was there');
	unlink $path or die $!;
	write_file($path, slurp_file($elsewhere));
	goes_on($node);    # by itself, nothing has to be loaded
	back_to_start($node, $load);
};

SKIP: {
	skip 'root may write everything', 2 if $> == 0;

	subtest 'mode 0400' => sub {
		my $offset = log_size($node);
		chmod 0400, $path or die $!;
		my $load = press($node);
		is_blocked($node, $offset, what => qr/postgresql\.auto\.conf cannot be written: Permission denied/, hint => $line);
		is(auto_conf($node), '', 'the file is what it was');
		# Without a reload: walsizer looks again by itself.
		chmod 0600, $path or die $!;
		goes_on($node);
		back_to_start($node, $load);
	};

	subtest 'a directory in which nothing can be created' => sub {
		my $offset = log_size($node);
		my $load = press($node);
		chmod 0500, $node->data_dir or die $!;
		is_blocked($node, $offset, what => qr/postgresql\.auto\.conf cannot be written: Permission denied/, hint => $line);
		chmod 0700, $node->data_dir or die $!;
		$node->reload;
		goes_on($node);
		back_to_start($node, $load);
	};
}

subtest 'it cannot be parsed' => sub {
	my $offset = log_size($node);
	my $good = slurp_file($path);
	write_file($path, "work_mem = '4MB\n");
	my $load = press($node);
	is_blocked($node, $offset, what => qr/configuration files have an error/, hint => qr/pg_file_settings WHERE error IS NOT NULL/);
	is(slurp_file($path), "work_mem = '4MB\n", 'the file is what it was');
	cmp_ok(value($node, 'SELECT count(*) FROM pg_file_settings WHERE error IS NOT NULL'), '>', 0, 'what the hint says to look at names it');
	write_file($path, $good);
	goes_on($node);    # by itself
	back_to_start($node, $load);
};

done_testing();
