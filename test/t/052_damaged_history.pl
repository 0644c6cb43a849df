
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Whatever lies where the history file should be: the server starts, walsizer says so once, puts it out of its way, works,
# and writes a history that the next start can read.

use strict;
use warnings;

use FindBin;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerDamage;
use WalsizerTest;

use constant HEAD => 24;    # magic, format, length, checksum, reserved

my $node = new_node('main', { checkpoint_timeout => '300s' });
start_node($node);
my $load = start_wal($node, rate => 30, seconds => 60);
eventually('a raise', sub { max_wal_size($node) > 64 * MB });
stop_load($load);
my $path = history_path($node);
$node->stop;
my $good = history_bytes($node);
cmp_ok(length($good), '>', 1000, 'a history of ' . length($good) . ' bytes');
is(unpack('N', reverse substr($good, 0, 4)), 0x575A4831, 'it begins with its magic')
  if pack('L', 1) eq pack('V', 1);

# Each message once: not its DETAIL. Not the start line either: it has a path, and this test's name is in it.
my $about_it = qr/(?:LOG|WARNING|ERROR):.*walsizer.*(?:history file|history was written|history["\.])/;

sub replaced
{
	my ($at, $bytes) = @_;
	my $damaged = $good;
	substr($damaged, $at, length($bytes)) = $bytes;
	return $damaged;
}

sub remove_all
{
	foreach my $file ($path, "$path.damaged", "$path.tmp")
	{
		chmod 0700, $file if -e $file;
		-d $file && !-l $file ? rmdir $file : unlink $file;
	}
	return;
}

# Starts the server on what lies there; afterwards a new history must be written and read.
sub survives
{
	my ($what, $complaint, $next_start) = @_;
	my $offset = log_size($node);
	ok($node->start(fail_ok => 1), "$what: the server starts") or return;
	# evaluate() leaves a row, and a row goes to the file. It waits for the worker.
	eventually('an answer of the worker', sub { $node->psql('postgres', 'SELECT walsizer.evaluate()') == 0 });
	my @complaints = log_lines($node, $offset, $about_it);
	is(scalar(@complaints), 1, "$what: one line about it") or diag(join "\n", @complaints);
	like($complaints[0] // '', $complaint, "$what: " . ($complaints[0] // 'nothing said'));
	is(status($node)->{state}, 'tuning', "$what: walsizer works");

	ok(soon(sub { -f $path && -r $path && -s $path > HEAD }), "$what: a new history is written");
	if ($next_start)
	{
		my $decisions = decision_ids($node);
		$node->restart;
		look($node);
		is(decision_ids($node), $decisions, "$what: and read by the next start");
	}
	is(scalar(log_lines($node, $offset, $about_it)), 1, "$what: with nothing more to say");
	$node->stop;
	return;
}

my $aside = qr/walsizer sets aside its history file/;
my $other = pack('L', 0x575A4831) eq pack('N', 0x575A4831) ? pack('V', 0x575A4831) : pack('N', 0x575A4831);

my @damages = (
	[ 'empty',                     '' ],
	[ 'cut within its head',       substr($good, 0, HEAD - 5) ],
	[ 'cut in the middle',         substr($good, 0, length($good) / 2) ],
	[ 'its last byte missing',     substr($good, 0, -1) ],
	[ 'one byte too long',         "$good\0" ],
	[ 'one bit flipped',           replaced(int(length($good) / 2), chr(ord(substr($good, length($good) / 2, 1)) ^ 4)) ],
	[ 'zeroed',                    "\0" x length($good) ],
	[ 'zeroed from the middle on', replaced(int(length($good) / 2), "\0" x (length($good) / 2)) ],
	[ 'another version',           replaced(4, pack('L', 2)) ],
	[ 'the other byte order',      replaced(0, $other) ],
	[ 'text',                      "max_wal_size = 64MB\n" x 100 ]);

foreach my $damage (@damages)
{
	my ($what, $bytes) = @$damage;
	remove_all();
	write_history($node, $bytes);
	survives($what, $aside);
	is(slurp_file("$path.damaged"), $bytes, "$what: it is kept");
}

subtest 'twice damaged: both are kept' => sub {
	write_history($node, "again\n");
	survives('again', $aside, 1);
	is(slurp_file("$path.damaged.1"), "again\n", 'the newer one under a name of its own');
};

subtest 'huge' => sub {
	remove_all();
	open my $file, '>', $path or die "cannot write $path: $!";
	truncate $file, 20 * 1024 * MB or die "no sparse file: $!";
	close $file or die "cannot write $path: $!";
	survives('huge', $aside, 1);
	cmp_ok(-s "$path.damaged", '==', 20 * 1024 * MB, 'it is kept');
};

subtest 'a directory' => sub {
	remove_all();
	mkdir $path or die "cannot make $path: $!";
	survives('a directory', $aside, 1);
};

subtest 'a directory, and an older damaged file' => sub {
	remove_all();
	write_history($node, 'older');
	rename $path, "$path.damaged" or die "cannot rename: $!";
	mkdir $path or die "cannot make $path: $!";
	survives('a directory beside an older file', $aside, 1);
};

subtest 'unreadable' => sub {
	remove_all();
	write_history($node, $good);
	chmod 0000, $path or die "cannot change $path: $!";
	plan skip_all => 'this user can read everything' if -r $path;
	survives('unreadable', qr/walsizer (?:sets aside|could not open) .*history/, 1);
};

# Opening one for reading waits for a writer, who never comes: nobody could stop the server any more.
subtest 'a pipe' => sub {
	remove_all();
	mkfifo($path, 0600) or die "cannot make $path: $!";
	ok($node->start(fail_ok => 1), 'the server starts');
	my $works = soon(sub { status($node)->{state} eq 'tuning' });
	ok($works, 'walsizer works');
	$node->stop($works ? 'fast' : 'immediate');
	remove_all();
};

# Written by the first version on another machine (test/data; its bytes are a 64-bit little-endian machine's): read as an
# inherited one, its order to hold included, and written again in the present format.
subtest 'of another version and another server' => sub {
	plan skip_all => 'another layout than the file\'s' if pack('Q', 1) ne pack('Q<', 1);
	remove_all();
	my $first = slurp_file("$FindBin::RealBin/../data/first_format.history");
	write_history($node, $first);
	my $offset = log_size($node);
	$node->start;
	look($node);
	is(scalar(log_lines($node, $offset, qr/walsizer sets aside/)), 0, 'it is not set aside');
	is(scalar(log_lines($node, $offset, qr{LOG:.*walsizer's history was written elsewhere \("/srv/data"\)})), 1, 'it is told to be inherited');
	is(value($node, q{SELECT reason FROM walsizer.decisions WHERE id = 6 AND action = 'undo'}),
		q{undone by alice: max_wal_size = '1GB' is put back in postgresql.auto.conf}, 'its journal can be read');
	is(value($node, 'SELECT count(*) FROM walsizer.windows WHERE wal_bytes > 0'), 7, 'its windows, too');
	value($node, 'SELECT walsizer.evaluate()');
	ok(soon(sub { history_bytes($node) ne $first }), 'a decision is written');
	my $decisions = decision_ids($node);
	like($decisions, qr/^1 grow, .*6 undo, /, 'beside the old ones');
	$node->restart;
	look($node);
	is(decision_ids($node), $decisions, 'and all are read again');
	is(scalar(log_lines($node, $offset, qr/walsizer sets aside/)), 0, 'with nothing set aside');
	$node->stop;
};

subtest 'a temporary file left over' => sub {
	remove_all();
	write_history($node, $good);
	append_to_file("$path.tmp", substr($good, 0, 100) x 1000);
	my $offset = log_size($node);
	$node->start;
	look($node);
	is(status($node)->{original_size}, 64 * MB, 'the history is read');
	value($node, 'SELECT walsizer.evaluate()');
	ok(soon(sub { !-e "$path.tmp" }), 'the next write takes its place');
	is(scalar(log_lines($node, $offset, $about_it)), 0, 'nothing to say about it');
	my $undone = row($node, 'SELECT * FROM walsizer.undo()');
	is($undone->{new_size}, 64 * MB, 'and undo() knows the original');
	is(auto_conf($node), '', 'and puts it back');
	$node->stop;
};

done_testing();
