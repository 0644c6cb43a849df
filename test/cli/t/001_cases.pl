# Real log excerpts with what is right to answer; each file tells its source and why.
use strict;
use warnings;

use FindBin;
use JSON::PP ();
use Test::More;
use Program;

my $cases = "$FindBin::Bin/../../cases";
my $MB = 1024 * 1024;
my $GB = 1024 * $MB;

# file => [counts by cause, action, checks...]; a check is a name and what must hold for the answer in $_.
my %expected = (
	'01-reitti-back-to-back-wal-sync' => [
		{ wal => 4 }, 'raise',
		'max_wal_size from 2 GB to 12.1 GB' => sub {
			my $size = $_->{recommendation}{max_wal_size};
			$size >= 2 * $GB && $size <= 12.1 * $GB;
		},
		'an upper bound, said so' => sub { $_->{recommendation}{reason} =~ /upper bound/ },
		'the storage is slow' => sub { $_->{said} =~ /sync phase .* 11 s.* 6\.8 s.*storage/ },
		'31 to 59 s apart' => sub {
			abs($_->{shortest_forced_interval_seconds} - 31) < 1 && abs($_->{longest_forced_interval_seconds} - 59) < 1;
		},
	],
	'03-nominatim-docker-planet-17s' => [
		{ wal => 2 }, 'raise',
		'a one-off load may be left alone' => sub { $_->{said} =~ /one-off load/ },
		'17 s apart' => sub { $_->{shortest_forced_interval_seconds} == 17 },
	],
	'05-cardano-rosetta-java-compose-8s' => [
		{ wal => 1 }, 'raise',
		'8 s apart' => sub { $_->{shortest_forced_interval_seconds} == 8 },
		'the prefix gives the time' => sub { $_->{from} eq '2026-05-13 14:05:49' },
	],
	'09-tezos-k8s-boxed-terminal' => [
		{ wal => 1 }, 'raise',
		'17 s apart' => sub { $_->{shortest_forced_interval_seconds} == 17 },
		'put the old value back after the load' => sub { $_->{said} =~ /put the old value back/ },
	],
	'11-bdr-54-pid-dash-line-prefix' => [
		{ wal => 7 }, 'raise',
		'local time as it was written' => sub { $_->{from} eq '2015-04-09 18:21:41' && $_->{to} eq '2015-04-09 18:26:10' },
		'2 to 7 s apart' => sub {
			$_->{shortest_forced_interval_seconds} == 2 && $_->{longest_forced_interval_seconds} == 7;
		},
	],
	'15-pg-auto-failover-standby-restartpoints' => [
		{ restartpoint => 5 }, 'keep',
		'a standby, said so' => sub { $_->{standby} && $_->{said} =~ /standby follows/ },
	],
	'16-digoal-post-crash-then-timed' => [
		{ recovery => 1, time => 1 }, 'keep',
		'replayed WAL is no reason' => sub { $_->{said} =~ /ended a recovery/ },
	],
	'19-tracearr-newest-first-idle' => [
		{ time => 4 }, 'keep',
		'checkpoint_timeout' => sub { $_->{settings}{checkpoint_timeout}{value} == 300 },
		'far above the need' => sub { $_->{said} =~ /1GB is \d{4} times/ && $_->{said} =~ /min_wal_size of 80MB already suffices/ },
		'a need that one gets by measuring' => sub { $_->{recommendation}{basis} eq 'measured' },
	],
	'35-pg18-pgbench-timed-30s' => [
		{ time => 3 }, 'keep',
		args => [ '--max-wal-size', '16GB' ],
		'checkpoint_timeout of 30 s from the log' => sub {
			$_->{settings}{checkpoint_timeout}{value} == 30 && $_->{settings}{checkpoint_timeout}{source} eq 'log';
		},
		'about 350 MB would do' => sub {
			my $need = $_->{recommendation}{need};
			$need >= 320 * $MB && $need <= 400 * $MB && $_->{said} =~ /would do/;
		},
		'what other sizes would have done' => sub {
			my %row = map { $_->{max_wal_size} / $MB => $_ } @{ $_->{what_if} };
			$row{256}{forced_per_hour} > 0 && $row{512}{forced_per_hour} == 0 && $row{16384}{note} eq 'present, recommended';
		},
	],
	'39-jp-quiz-pg14-32mb-1s' => [
		{ wal => 1, unknown => 1 }, 'raise',
		'to the default at least' => sub { $_->{recommendation}{max_wal_size} >= $GB },
		'1 second apart' => sub { $_->{shortest_forced_interval_seconds} <= 1 },
	],
	'41-pg16-manual-checkpoint-331mb' => [ { request => 1 }, 'keep' ],
	'43-pg18-kr-requested-9-done-8' => [ { wal => 2 }, 'raise' ],
	'46-heroku-syslog-restartpoint' => [
		{ restartpoint => 1 }, 'keep',
		'a standby' => sub { $_->{standby} },
	],
	'47-pg17-standby-one-segment' => [
		{ restartpoint => 1 }, 'keep',
		'a standby' => sub { $_->{standby} },
	],
	'49-rds-idle-64mb-segment-switch' => [
		{ time => 2 }, 'keep',
		'segments of 64 MB, by the log' => sub {
			$_->{settings}{wal_segment_size}{value} == 64 * $MB && $_->{settings}{wal_segment_size}{source} eq 'log';
		},
		'a switched segment is no load' => sub { $_->{said} =~ /archive_timeout/ },
		'checkpoint_timeout' => sub { $_->{settings}{checkpoint_timeout}{value} == 300 },
	],
	'52-cn-csvlog-45min-timed' => [
		{ time => 1 }, 'keep',
		'checkpoint_timeout is 48 min or more' => sub {
			$_->{settings}{checkpoint_timeout}{value} >= 48 * 60 && $_->{settings}{checkpoint_timeout}{source} eq 'log';
		},
	],
	'53-ru-localized-timed-17' => [
		{ time => 3 }, 'keep',
		'checkpoint_timeout in force is 300 s' => sub {
			$_->{settings}{checkpoint_timeout}{value} == 300
			  && $_->{settings}{checkpoint_timeout}{source} eq 'log'
			  && $_->{settings}{checkpoint_timeout}{note} =~ /300 s apart/;
		},
		'WAL of both cycles' => sub { $_->{recommendation}{wal_per_checkpoint_timeout} > 55000 * 1024 },
	],
	'57-slow-redo-progress-0.9mbs' => [
		{}, 'keep',
		'0.89 MB/s' => sub { abs($_->{replay_rate} - 0.89e6) < 0.01e6 },
		'recovery time forbids growth' => sub {
			$_->{recommendation}{limited_by} eq 'recovery_time' && $_->{said} =~ /recovery time forbids growth/;
		},
	],
	'64-own-pg15-running-statement-keeps-old-limit' => [
		{ wal => 5, unknown => 1 }, 'keep',
		'all of them stale' => sub { $_->{checkpoints}{stale} == 5 },
		'4GB from the log' => sub {
			$_->{settings}{max_wal_size}{value} == 4 * $GB && $_->{settings}{max_wal_size}{source} eq 'log';
		},
		'said in words' => sub { $_->{said} =~ /the statement keeps its old trigger/ },
	],
);

my @files = glob "$cases/*.txt";
is(scalar @files, scalar keys %expected, 'each case has its answer here');

for my $path (@files)
{
	my ($name) = $path =~ m{([^/]+)\.txt$};
	my ($counts, $action, @checks) = @{ $expected{$name} // next };
	my @arguments;
	subtest $name => sub {
		for (my $i = 0; $i < @checks; $i += 2)
		{
			@arguments = @{ (splice @checks, $i, 2)[1] } if $checks[$i] eq 'args';
		}
		my ($answer, $status, $error) = advise_log($path, @arguments);
		is($error, '', 'silent on standard error');
		ok($answer, 'it answers') or return;
		my %counted = %{ $answer->{checkpoints} };
		delete @counted{ 'stale', 'total' };
		delete $counted{$_} for grep { !$counted{$_} } keys %counted;
		is_deeply(\%counted, $counts, 'checkpoints by cause');
		is($answer->{recommendation}{action}, $action, "recommendation: $action");
		is($answer->{unparsed}, 0, 'all was read');
		my $found = grep { $_->{severity} ne 'info' } @{ $answer->{findings} };
		is($status, $found || $action eq 'raise' ? 1 : 0, 'exit status');
		$answer->{said} = join ' ', map { "$_->{message} $_->{hint}" } @{ $answer->{findings} };

		while (my ($what, $check) = splice @checks, 0, 2)
		{
			local $_ = $answer;
			ok($check->(), $what) or diag(JSON::PP->new->pretty->canonical->encode($answer));
		}
		done_testing();
	};
}

done_testing();
