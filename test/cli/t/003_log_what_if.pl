# The what-if table of a log, in all formats, and the engine's findings about what a log shows.
use strict;
use warnings;

use Test::More;
use Program;

my $MB = 1024 * 1024;

# Lines of $count checkpoints, $every seconds apart.
sub checkpoints
{
	my %o = (every => 60, count => 60, cause => 'wal', kilobytes => 557056, write => 19.5, sync => 0.1, @_);
	my $total = $o{write} + $o{sync} + 0.4;
	my ($write, $sync, $whole) = map { sprintf '%.3f', $_ } $o{write}, $o{sync}, $total;
	my $text = '';
	for my $i (0 .. $o{count} - 1)
	{
		my $at = $o{every} * $i;
		my $stamp = sub {
			my $s = shift;
			return sprintf '2026-07-%02d %02d:%02d:%02d.000 UTC', 1 + int($s / 86400), $s / 3600 % 24, $s / 60 % 60, $s % 60;
		};
		$text .= $stamp->($at) . " [27] LOG:  checkpoint starting: $o{cause}\n" . $stamp->($at + $total)
		  . " [27] LOG:  checkpoint complete: wrote 1658 buffers (10.1%); 0 WAL file(s) added, 0 removed, 34 recycled; "
		  . "write=$write s, sync=$sync s, total=$whole s; sync files=9, longest=0.1 s, average=0.1 s; "
		  . "distance=$o{kilobytes} kB, estimate=$o{kilobytes} kB\n";
	}
	return $text;
}

my $forced = write_file(checkpoints());
my ($answer) = advise_log($forced);
my @rows = @{ $answer->{what_if} };
my %row = map { $_->{max_wal_size} / $MB => $_ } @rows;
my ($present, $recommended) = map { $row{ $_ / $MB } } $answer->{settings}{max_wal_size}{value}, $answer->{recommendation}{max_wal_size};
is_deeply([ sort keys %$present ],
	[ sort qw(max_wal_size trigger_size timed_per_hour forced_per_hour forced_ratio wal_per_hour is_bound recovery_estimate
		  fits_disk fits_recovery_time note) ], 'the columns of walsizer.what_if()');
is($present->{note}, 'present', 'the present size is marked');
ok(!$present->{is_bound}, '... and is no bound');
cmp_ok(abs($present->{forced_per_hour} - 60), '<', 2, '... and forces what the log shows');
cmp_ok(abs($present->{wal_per_hour} / (60 * 544 * $MB) - 1), '<', 0.05, '... with the WAL that it shows');
like($recommended->{note}, qr/^recommended; bound: at most this much, since a log does not tell full-page images/,
	'the recommended size is marked, and is a bound');
is($recommended->{forced_per_hour}, 0, '... and forces nothing');
like($row{512}{note}, qr/^bound: at least this much/, 'a smaller size is a bound to the other side');
cmp_ok($row{512}{forced_per_hour}, '>', $present->{forced_per_hour}, '... and forces more');
is_deeply([ map { $_->{max_wal_size} } @rows ], [ sort { $a <=> $b } map { $_->{max_wal_size} } @rows ], 'sizes rise');
like($answer->{what_if_note}, qr/not its pace in between/, 'what a log does not show is said');
is($present->{fits_disk}, undef, 'whether it fits the disk is not known');

($answer) = advise_log($forced, '--wal-volume', '4GB', '--max-recovery-time', '1min');
%row = map { $_->{max_wal_size} / $MB => $_ } @{ $answer->{what_if} };
ok($row{512}{fits_disk} && $row{512}{fits_recovery_time}, 'a size that fits');
my $larger = (sort { $b <=> $a } keys %row)[0];
cmp_ok($larger, '<=', 4096, 'none is beyond the ceiling');

my (undef, $text) = walsizer('advise', '--log', $forced);
like($text, qr/^What if, checkpoints and WAL per hour$/m, 'text has the table');
like($text, qr/^ +1GB +6\d\.\d .*present$/m, '... with the present size');
like($text, qr/^ +\S+B +≤0\.0 .*recommended$/m, '... and the recommended one');
like($text, qr/≤ at most, ≥ at least this much, since a log does not tell/, '... and what the signs mean');
utf8::decode(my $characters = $text);
ok(!(grep { length > 80 } split /\n/, $characters), '... in 80 columns');

my (undef, $csv) = walsizer('advise', '--format', 'csv', '--log', $forced);
my ($heading, @lines) = split /\n/, $csv;
my @names = split /,/, $heading;
my @table = map { my @fields = map { s/^"|"$//gr } "$_," =~ /("[^"]*"|[^,]*),/g; my %r; @r{@names} = @fields; \%r } @lines;
is(scalar @table, scalar @rows, 'CSV has a row for each size');
is($table[0]{action}, 'raise', '... the first of which is the server');
is($table[0]{note}, 'present', '... with its present size');
is(scalar(grep { $_->{action} ne '' } @table), 1, '... and the others are not');
ok((grep { $_->{note} =~ /^recommended/ && $_->{forced_per_hour} == 0 && $_->{is_bound} eq 'true' } @table),
	'... among them the recommended one');

# Too little to say, and nothing to say it from
($answer) = advise_log(write_file(checkpoints(count => 3)));
is_deeply($answer->{what_if}, [], 'two minutes are no table');
like($answer->{what_if_note}, qr/^Too little to replay .*one checkpoint_timeout \(5min\) is the least/, '... which is said');
my $warnings = join '', map { "2026-07-01 12:0$_:00 UTC [27] LOG:  checkpoints are occurring too frequently (9 seconds apart)\n" } 0 .. 9;
($answer) = advise_log(write_file($warnings));
is_deeply($answer->{what_if}, [], 'warnings alone are no table');
like($answer->{what_if_note}, qr/does not tell how much WAL/, '... which is said');
ok((grep { $_->{code} eq 'log_checkpoints' } @{ $answer->{findings} }), '... and that log_checkpoints seems to be off');

# Findings
sub codes { my ($found) = advise_log(@_); return join ' ', sort map { $_->{code} } @{ $found->{findings} } }
my %timed = (cause => 'time', every => 300, kilobytes => 307200);
is(codes(write_file(checkpoints(%timed))), '', 'a healthy log has none');
unlike(codes($forced), qr/segment/, 'whole segments between forced checkpoints are no switched ones');
is(codes(write_file(checkpoints(%timed, sync => 9))), 'checkpoint_sync_time', 'long syncs');
is(codes(write_file(checkpoints(%timed, every => 400, write => 390)), '--checkpoint-timeout', '5min'), 'checkpoint_timeout',
	'checkpoints longer than checkpoint_timeout');
is(codes(write_file(checkpoints(cause => 'immediate force wait', kilobytes => 60000))), 'requested_checkpoints',
	'checkpoints that somebody asks for');
is(codes(write_file(checkpoints(%timed)), '--completion-target', '0.5'), 'checkpoint_completion_target', 'a completion target');

done_testing();
