
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer advise on a live server without the extension: causes against the server log, a role without rights, a
# restart while it watches, Ctrl-C, errors, formats.

use strict;
use warnings;

use Encode qw(decode);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WalsizerProgram;
use WalsizerTest;

my $node = new_node('advise', { shared_preload_libraries => '' });
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN');

# A load whose WAL forces checkpoints. The log is the truth; at either end one checkpoint may be seen by one side only.
my $load = start_wal($node, rate => 10, seconds => 14);
my $run = run_at($node, 'advise', '--for', '12s', '--format', 'json');
finish_load($load);
my $logged = () = slurp_file($node->logfile) =~ /checkpoint starting: wal/g;
my $advice = json_of($run);
is($run->{rc}, 1, 'a raise is a finding') or diag $run->{err};
my $seen = $advice->{checkpoints};
cmp_ok($seen->{wal}, '>=', 2, 'forced checkpoints are seen');
cmp_ok($seen->{wal}, '<=', $logged, '... and none that did not happen');
cmp_ok($seen->{wal}, '>=', $logged - 3, '... and hardly fewer than the log has');
is($seen->{total}, $seen->{wal}, '... and no other cause');
is($advice->{recommendation}{action}, 'raise', 'recommends more');
cmp_ok($advice->{recommendation}{max_wal_size}, '>', 64 * MB, '... than there is');
is($advice->{settings}{max_wal_size}{source}, 'server', 'the server was asked for its settings');
like($advice->{settings}{max_wal_size}{note}, qr/^postgresql\.conf line \d+$/, '... and tells where they stand');
is($advice->{timeouts_watched}, 0, 'less than a checkpoint_timeout was watched');
ok((grep { /less than one checkpoint_timeout/ } @{ $advice->{notes} }), '... which a note says');
my %line = map { $_->{place} => $_->{line} } @{ $advice->{recommendation}{lines} };
ok((grep { /^postgresql\.conf/ } keys %line) && (grep { /ALTER SYSTEM SET max_wal_size/ } values %line)
	  && $line{Patroni}, 'lines for postgresql.conf, ALTER SYSTEM and Patroni');
is($run->{err}, '', 'no progress bar where nobody looks');

# Ceilings that SQL does not show.
$load = start_wal($node, rate => 10, seconds => 9);
$run = run_at($node, 'advise', '--for', '7s', '--max', '96MB', '--format', 'json');
finish_load($load);
$advice = json_of($run);
is($advice->{recommendation}{max_wal_size}, 96 * MB, '--max caps');
is($advice->{recommendation}{limited_by}, 'max', '... and is named');

# Checkpoints that somebody asked for, and a short watch of an idle server.
my $background = start_program($node, 'advise', '--for', '7s', '--format', 'json', '-U', 'plain');
foreach my $i (1 .. 2)
{
	usleep(1_500_000);    # so that two looks see two redo points
	$node->safe_psql('postgres', "CREATE TABLE t$i AS SELECT generate_series(1, 1000)");
	$node->safe_psql('postgres', 'CHECKPOINT');
}
finish_program($background);
$advice = json_of($background);
is($advice->{checkpoints}{request}, 2, 'CHECKPOINT commands are requests');
is($advice->{checkpoints}{wal}, 0, '... and not forced by WAL');
is($advice->{recommendation}{action}, 'keep', 'no reason to raise');
is($advice->{recommendation}{max_wal_size}, 64 * MB, '... or to lower');
is($background->{rc}, 0, '... and no finding') or diag $background->{out};
ok((grep { /pg_monitor/ } @{ $advice->{notes} }), 'a role without rights hears what it cannot see');

# A restart in the middle.
$background = start_program($node, 'advise', '--for', '14s', '--format', 'json');
usleep(2_000_000);    # some looks before
$node->restart;
finish_program($background);
$advice = json_of($background);
is($advice->{checkpoints}{recovery}, 1, 'the restart counts as recovery') or diag $background->{out};
is($advice->{checkpoints}{wal}, 0, '... not as forced');
ok((grep { /connection was lost/ } @{ $advice->{notes} }), '... and a note tells of it');
cmp_ok($background->{rc}, '<', 2, '... and it is no error');

# Ctrl-C ends early, with what there is.
$background = start_program($node, 'advise', '--for', '10min', '--format', 'json');
usleep(2_000_000);
signal_program($background, 'INT');
finish_program($background);
$advice = json_of($background);
cmp_ok($background->{rc}, '<', 2, 'Ctrl-C is no error');
ok((grep { /^Interrupted after/ } @{ $advice->{notes} }), '... and says that it ended early');
cmp_ok($advice->{watched_seconds}, '<', 60, '... early');

# What other sizes would have done, from one checkpoint_timeout on: the server's counters are the truth.
is_deeply($advice->{what_if}, [], 'a short watch is no what-if table');
like($advice->{what_if_note}, qr/^Too little to replay/, '... which is said');
is(scalar(grep { $_->{code} eq 'checkpoint_completion_target' } @{ $advice->{findings} }), 0, 'nothing to say against the default');
$node->append_conf('postgresql.conf', "checkpoint_timeout = 30s\ncheckpoint_completion_target = 0.5");
$node->reload;
$load = start_wal($node, rate => 10, seconds => 52);
$background = start_program($node, 'advise', '--for', '48s', '--format', 'json', '--wal-volume', '100GB');
my $plain = start_program($node, 'advise', '--for', '48s', '-U', 'plain');
finish_program($background);
finish_program($plain);
stop_load($load);
$advice = json_of($background);
my ($finding) = grep { $_->{code} eq 'checkpoint_completion_target' } @{ $advice->{findings} };
is($finding->{hint}, 'ALTER SYSTEM SET checkpoint_completion_target = 0.9', "the neighbours' findings have their statement");
my %row = map { $_->{max_wal_size} >> 20 => $_ } @{ $advice->{what_if} };
my $now = $row{64};
like($now->{note}, qr/^present/, 'the present size is marked') or diag $background->{out};
my $hours = $advice->{watched_seconds} / 3600;
cmp_ok(abs($now->{forced_per_hour} * $hours - $advice->{checkpoints}{wal}), '<=', 3, '... and forces what was seen');
cmp_ok(abs($now->{wal_per_hour} * $hours / $advice->{wal_bytes} - 1), '<', 0.2, '... with the WAL that was seen');
my $then = $row{ $advice->{recommendation}{max_wal_size} >> 20 };
like($then->{note}, qr/^recommended/, 'the recommended size is marked');
is($then->{forced_per_hour}, 0, '... and forces nothing');
cmp_ok($then->{timed_per_hour}, '>', 0, '... but leaves it to the timer');
ok($then->{fits_disk} && $then->{fits_recovery_time}, '... and fits');
like($plain->{out}, qr/^What if, checkpoints and WAL per hour\n.*^ +64MB [^\n]*present\n/ms, 'a role without rights has the table, too')
  or diag $plain->{out};
ok(!(grep { length > 80 } split /\n/, decode('UTF-8', $plain->{out})), '... in 80 columns');

# Formats.
$run = run_at($node, 'advise', '--for', '0s', '--format', 'csv');
my ($heading, $row) = split /\n/, $run->{out};
like($heading, qr/^source,server,from,to,watched_seconds,wal,time,request,/, 'CSV has a heading');
is(scalar(split /,/, $heading), scalar(() = "$row," =~ /(?:"[^"]*"|[^,]*),/g), '... and as many fields in its row');
$run = run_at($node, 'advise', '--for', '0s');
like($run->{out}, qr/^Recommended  no change$/m, 'text says that nothing is to do');
ok(!(grep { length > 80 } split /\n/, $run->{out}), '... in 80 columns');
unlike($run->{out}, qr/\e/, '... without colour in a pipe');

# Errors are told apart from findings.
$run = run_program('advise', 'host=/nowhere dbname=postgres', '--for', '1s');
is($run->{rc}, 2, 'a server that is not there is an error');
like($run->{err}, qr/^walsizer: .*\/nowhere/, '... that names it');
is(run_program('advise', '--for', 'soon')->{rc}, 2, 'a wrong option is an error');

done_testing();
