
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# undo() puts back exactly what was in postgresql.auto.conf before the first raise, and holds, also across a restart,
# until resume(). The original is on disk before the first ALTER SYSTEM: where it cannot be written, nothing is altered.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use WalsizerTest;

# A load that forces three or four checkpoints at 64MB.
sub pressure
{
	my ($node) = @_;
	my $since = time;
	finish_load(start_wal($node, rate => 60, seconds => 2));
	return scalar(forced($node, $since));
}

my %settings = (checkpoint_timeout => '300s');

# One server whose DBA has set it in postgresql.auto.conf, in a spelling of his own, and one without such a line.
my $line   = new_node('line', \%settings);
my $noline = new_node('noline', \%settings);
start_node($line);
start_node($noline);
append_to_file($line->data_dir . '/postgresql.auto.conf', "max_wal_size = '65536kB'\n");
$line->reload;
look($line);
my %original = map { $_ => auto_conf($_) } $line, $noline;
is($original{$line},   "max_wal_size = '65536kB'\n", 'one server with a line of its DBA');
is($original{$noline}, '', 'one without');

foreach my $node ($line, $noline)
{
	subtest 'undo() with ' . $node->name => sub {
		pressure($node);
		eventually('a raise', sub { max_wal_size($node) > 64 * MB });
		is(status($node)->{original_size}, 64 * MB, 'the original is known');
		is((grows($node))[0]{old_size}, 64 * MB, 'the first raise started from it');

		my $undo = row($node, 'SELECT * FROM walsizer.undo()');
		is($undo->{action}, 'undo', 'undo() returns its decision');
		is($undo->{cause}, 'manual', 'made by a person');
		is($undo->{new_size}, 64 * MB, 'back to the original');
		like($undo->{reason}, qr/postgres|superuser|role/i, 'the reason names the role');
		is(auto_conf($node), $original{$node}, 'postgresql.auto.conf holds exactly what it did');
		is(max_wal_size($node), 64 * MB, 'the server runs with it');
		is(status($node)->{state}, 'held', 'state');
		cmp_ok(pressure($node), '>=', 2, 'checkpoints are forced');
		value($node, 'SELECT walsizer.evaluate()');
		is(max_wal_size($node), 64 * MB, 'and nothing is raised');

		restart_node($node);
		is(status($node)->{state}, 'held', 'a restart does not end it');
		cmp_ok(pressure($node), '>=', 2, 'checkpoints are forced again');
		is(max_wal_size($node), 64 * MB, 'and nothing is raised');

		is(row($node, 'SELECT * FROM walsizer.resume()')->{action}, 'resume', 'resume() returns its decision');
		is(status($node)->{state}, 'tuning', 'resume() ends it');
		pressure($node);
		ok(soon(sub { max_wal_size($node) > 64 * MB }), 'and the next load raises');
		is(row($node, 'SELECT * FROM walsizer.undo()')->{new_size}, 64 * MB, 'undo() still knows the original');
		is(auto_conf($node), $original{$node}, 'and puts it back again');
	};
}

subtest 'where the original cannot be written down, nothing is altered' => sub {
	my @files = history_files($noline);
	is(scalar(@files), 1, "one history file: @files") or return;
	my ($path) = map { $noline->data_dir . "/$_" } @files;
	my $dir = dirname($path);

	# A server that has never raised, in whose directory for the history nothing can be created.
	$noline->stop;
	unlink $path or die "could not remove $path: $!";
	my $mode = (stat $dir)[2] & 07777;
	chmod 0500, $dir or die "could not change $dir: $!";
	my $writable = eval { append_to_file("$dir/probe", ''); 1 };
	start_node($noline);
	is(auto_conf($noline), '', 'no line to begin with');
	ok(!$writable, 'the directory is closed');
	cmp_ok(pressure($noline), '>=', 2, 'checkpoints are forced');
	$noline->psql('postgres', 'SELECT walsizer.evaluate()');
	look($noline);
	is(auto_conf($noline), '', 'no ALTER SYSTEM');
	is(max_wal_size($noline), 64 * MB, 'no other value');
	my $status = status($noline);
	like($status->{last_error} // '', qr/history/, 'the status tells the error: ' . ($status->{last_error} // ''));

	chmod $mode, $dir or die "could not change $dir: $!";
	my $load = start_wal($noline, rate => 40, seconds => 30);
	# It tries again by itself, but rarely; whoever mended the disk does not wait for that.
	$noline->psql('postgres', 'SELECT * FROM walsizer.resume()');
	ok(soon(sub { auto_conf($noline) ne '' }, 30), 'it raises as soon as it can write');
	ok(-f $path, 'with the history on disk');
	stop_load($load);
};

subtest 'the raise tells the original in the log' => sub {
	my @lines = log_lines($noline, 0, qr/LOG:.*walsizer.*64 ?MB/);
	ok(@lines, 'a line with the value before');
};

done_testing();
