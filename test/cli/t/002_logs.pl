# Logs as they come: rotated, copied, compressed, newest first, of several servers, and what is no log at all.
use strict;
use warnings;

use Test::More;
use Program;

my $GB = 1024 * 1024 * 1024;

# $count checkpoints from second $from on, every $every seconds, of $kilobytes each: their lines
sub checkpoints
{
	my %o = (from => 0, every => 60, count => 20, cause => 'wal', kilobytes => 560000, pid => 27, prefix => '', @_);
	my @lines;
	for my $i (0 .. $o{count} - 1)
	{
		my $at = $o{from} + $i * $o{every};
		my $stamp = sub {
			my $s = shift;
			return sprintf '2026-07-%02d %02d:%02d:%02d.000 UTC', 1 + int($s / 86400), $s / 3600 % 24, $s / 60 % 60, $s % 60;
		};
		push @lines, $o{prefix} . $stamp->($at) . " [$o{pid}] LOG:  checkpoint starting: $o{cause}\n",
		  $o{prefix} . $stamp->($at + 20)
		  . " [$o{pid}] LOG:  checkpoint complete: wrote 1658 buffers (10.1%); 0 WAL file(s) added, 0 removed, 34 recycled; "
		  . "write=19.5 s, sync=0.1 s, total=20.0 s; sync files=9, longest=0.1 s, average=0.1 s; "
		  . "distance=$o{kilobytes} kB, estimate=$o{kilobytes} kB\n";
	}
	return @lines;
}

my @day = checkpoints(count => 100);
my ($whole, $status) = advise_log(write_file(join '', @day));
is($whole->{checkpoints}{wal}, 100, 'a log is read');
is($whole->{recommendation}{action}, 'raise', 'it asks for more');
is($status, 1, 'exit status 1: something found');
is($whole->{watched_seconds}, 99 * 60, 'from the first start to the last');
is($whole->{wal_bytes}, 99 * 560000 * 1024, 'WAL of the cycles whose length is known');
is($whole->{recommendation}{wal_per_checkpoint_timeout}, 5 * 560000 * 1024, 'WAL of one checkpoint_timeout');
is($whole->{recommendation}{basis}, 'upper_bound', 'under frequent checkpoints it is an upper bound');

# What must not depend on how the lines come
sub same
{
	my ($answer, $what) = @_;
	is_deeply($answer->{checkpoints}, $whole->{checkpoints}, "$what: the same checkpoints");
	is($answer->{wal_bytes}, $whole->{wal_bytes}, "$what: the same WAL");
	is($answer->{recommendation}{max_wal_size}, $whole->{recommendation}{max_wal_size}, "$what: the same size");
}

my ($first, $second, $third) = (join('', @day[ 0 .. 79 ]), join('', @day[ 80 .. 119 ]), join('', @day[ 120 .. 199 ]));
my @rotated = map { write_file(@$_) } ([ $third, 'a.log' ], [ $first, 'b.log' ], [ $second, 'c.log' ]);
my ($answer) = advise_log(@rotated);
same($answer, 'three files in any order');
is($answer->{duplicates}, 0, 'no copies there');

($answer) = advise_log(@rotated, write_file($second . $third, 'copy.log'));
same($answer, 'with a copy of a part');
is($answer->{duplicates}, 120, 'the copies are told');

($answer) = advise_log(write_file(join '', reverse @day));
same($answer, 'newest first');

($answer) = advise_log(write_file(join "\r\n", map { s/\n//r } @day));
same($answer, 'lines that end as on Windows');

for my $packer ([ 'gzip', '-c' ], [ 'zstd', '-q', '-c' ])
{
	my $plain = write_file(join '', @day);
	my $packed = qx(@$packer $plain);
	($answer) = advise_log(write_file($packed, "packed.$packer->[0]"));
	same($answer, $packer->[0]);
	($answer) = advise_log(write_file(qx(@$packer $rotated[1]) . qx(@$packer $rotated[2]) . qx(@$packer $rotated[0]), 'parts'));
	same($answer, "$packer->[0], three streams in one file");
	($answer, undef, my $error) = advise_log(write_file(substr($packed, 0, int(length($packed) * 0.7)), 'cut'));
	# zstd has so little data in one block, of which nothing can be read
	like($answer ? "@{ $answer->{notes} }" : $error, qr/breaks off/, "$packer->[0], cut off: said so");
}

my ($out, $err);
($status, $out, $err) = walsizer('advise', '--format', 'json', '--log', '-', \join '', @day);
same(JSON::PP->new->decode($out), 'standard input');

# Several servers in one stream
my @one = checkpoints(count => 30, prefix => 'pg-0  | ');
my @two = checkpoints(count => 30, prefix => 'pg-1  | ', cause => 'time', every => 300, kilobytes => 1000, pid => 27);
my @mixed = map { ($one[$_], $two[$_]) } 0 .. $#one;
($answer) = advise_log(write_file(join '', @mixed));
is(scalar @{ $answer->{servers} }, 2, 'two pods are two servers');
is_deeply([ map { $_->{name} } @{ $answer->{servers} } ], [ 'pg-0', 'pg-1' ], 'by their names');
is_deeply([ map { $_->{recommendation}{action} } @{ $answer->{servers} } ], [ 'raise', 'keep' ], 'each its own advice');
is($answer->{checkpoints}{wal}, 30, 'counts of both');
is($answer->{checkpoints}{time}, 30, 'counts of both');

@two = checkpoints(count => 30, from => 7, pid => 99);
@mixed = sort { substr($a, 0, 23) cmp substr($b, 0, 23) } checkpoints(count => 30), @two;
($answer) = advise_log(write_file(join '', @mixed));
is(scalar @{ $answer->{servers} }, 2, 'two checkpointers that take turns are two servers');

($answer) = advise_log(write_file(join '', checkpoints(count => 30), checkpoints(count => 30, from => 3600, pid => 99)));
ok(!$answer->{servers}, 'two that follow each other are one that was restarted');
is($answer->{checkpoints}{wal}, 60, 'with the checkpoints of both');

# Causes, and what is no reason to grow
($answer, $status) = advise_log(write_file(join '', checkpoints(cause => 'time', every => 300), checkpoints(from => 6060, count => 3, cause => 'immediate force wait')));
is($answer->{recommendation}{action}, 'keep', 'CHECKPOINT commands are no reason to grow');
is($status, 0, 'exit status 0: nothing to do');
is($answer->{checkpoints}{request}, 3, 'they are counted');

# Options go before the log, the log before defaults
($answer) = advise_log(write_file(join '', checkpoints(cause => 'time', every => 30)));
is($answer->{settings}{checkpoint_timeout}{value}, 30, 'checkpoint_timeout by the log');
($answer) = advise_log(write_file(join '', checkpoints(cause => 'time', every => 30)), '--checkpoint-timeout', '1min', '--max-wal-size', '8GB', '--segment-size', '64MB', '--completion-target', '0.5');
my %settings = %{ $answer->{settings} };
is_deeply([ map { $settings{$_}{source} } sort grep { ref $settings{$_} } keys %settings ], [ ('option') x 4 ], 'options have the last word');
is($settings{max_wal_size}{value}, 8 * $GB, '--max-wal-size');
is($settings{checkpoint_timeout}{value}, 60, '--checkpoint-timeout');

my $change = "2026-07-01 00:10:30.000 UTC [1] LOG:  parameter \"max_wal_size\" changed to \"6GB\"\n";
($answer) = advise_log(write_file(join '', checkpoints(count => 10), $change, checkpoints(from => 900, every => 300, count => 5, cause => 'time')));
is($answer->{settings}{max_wal_size}{value}, 6 * $GB, 'a change in the log');
is($answer->{settings}{max_wal_size}{source}, 'log', 'and where it is from');

# Ceilings
($answer) = advise_log(write_file(join '', @day), '--max', '2GB');
is($answer->{recommendation}{max_wal_size}, 2 * $GB, '--max caps');
is($answer->{recommendation}{limited_by}, 'max', 'and is named');
($answer) = advise_log(write_file(join '', @day), '--wal-volume', '10GB', '--disk-free', '5GB');
is($answer->{recommendation}{limited_by}, 'disk', 'the disk caps');
($answer) = advise_log(write_file(join '', @day), '--max-recovery-time', '1min', '--replay-rate', '32MB');
is($answer->{recommendation}{limited_by}, 'recovery_time', 'the time of a recovery caps');
cmp_ok($answer->{recommendation}{max_wal_size}, '<=', 60 * 32 * 1024 * 1024, 'at what it may take');

# What is no log
for my $case (
	[ 'empty', '', qr/is empty/ ],
	[ 'a text', "Dear reader,\nthis is no log.\n" x 100, qr/no PostgreSQL server log/ ],
	[ 'bytes', join('', map { chr($_ % 256) } 1 .. 5000), qr/no PostgreSQL server log/ ],
	[ 'xz', "\xFD7zXZ\0\0\0", qr/compressed with xz: xz -dc/ ])
{
	my ($name, $content, $message) = @$case;
	($answer, $status, $err) = advise_log(write_file($content));
	is($status, 2, "$name: exit status 2");
	like($err, $message, "$name: said what it is");
	ok(!$answer, "$name: no answer");
}
($answer, $status, $err) = advise_log('/nonexistent/postgresql.log');
is($status, 2, 'no such file: exit status 2');
like($err, qr/No such file/, 'no such file: said so');

($answer, $status) = advise_log(write_file("2026-07-18 12:06:32 UTC [9] LOG:  listening on IPv4 address\n"));
is($status, 0, 'a log without checkpoints is no error');
like("@{ $answer->{notes} }", qr/log_checkpoints = on/, 'and it is said how to get them');

($answer) = advise_log(write_file(join '', @day, "2026-07-02 00:00:00 UTC [27] LOG:  checkpoint complete: wro"));
is($answer->{unparsed}, 1, 'a line that was cut off is counted');
is($answer->{checkpoints}{total}, 100, 'and nothing is made of it');

# For people
($status, $out) = walsizer('advise', '--log', write_file(join '', @day));
unlike($out, qr/\033/, 'no colour in a pipe');
is(scalar(grep { length > 80 } split /\n/, do { utf8::decode(my $text = $out); $text }), 0, 'no line beyond 80 columns');
($status, $out) = walsizer('advise', '--color', 'always', '--log', write_file(join '', @day));
like($out, qr/\033\[/, 'colour when asked for');
($status, $out) = walsizer('advise', '--format', 'csv', '--log', write_file(join '', @day));
my @rows = split /\n/, $out;
my $sizes = scalar @{ $whole->{what_if} };
is(scalar @rows, 1 + $sizes, 'csv: a title and a row for each size');
is(scalar(split /,/, $rows[0], -1), scalar(split /,/, $rows[1], -1), 'csv: as many fields as titles');
my $padding = "2026-07-03 00:00:00.000 UTC [9] LOG:  duration: 1.000 ms  statement: SELECT 1\n" x 250_000;
my $long = write_file(join '', @day, map { $padding, checkpoints(from => $_, count => 1) } 300_000, 300_300);
foreach my $arguments ([ 'advise' ], [ 'report', '-o', write_file('', 'page.html') ])
{
  SKIP:
	{
		my $shown = at_terminal(@$arguments, '--log', $long);
		skip 'script(1) is not here', 1 unless defined $shown;
		like($shown, qr/\d+ %  \d+ MB read/, "$arguments->[0] shows at a terminal how far it has read");
	}
}
($status, $out, $err) = walsizer('advise', '--format', 'xml', '--log', 'x');
is($status, 2, 'a wrong option: exit status 2');

done_testing();
