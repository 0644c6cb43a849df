
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer report: one page that holds everything, whatever strings the server holds.

use strict;
use warnings;

use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerProgram;
use WalsizerTest;

my $node = start_node(new_node('reported', {}));
my $load = start_wal($node, rate => 6, seconds => 6);
finish_load($load);
$node->safe_psql('postgres', 'CHECKPOINT');
eventually('its record', sub { $node->safe_psql('postgres', 'SELECT count(*) FROM walsizer.checkpoints') > 0 });
eventually('a raise', sub { $node->safe_psql('postgres', 'SELECT count(*) FROM walsizer.decisions') > 0 });

# A hostile role whose name ends up in a reason.
my $hostile = q{</script><script>alert(1)</script><!--};
$node->safe_psql('postgres', qq{CREATE ROLE "$hostile" SUPERUSER LOGIN});
$node->psql('postgres', qq{SET SESSION AUTHORIZATION "$hostile"; SELECT walsizer.undo()});

my $dir = PostgreSQL::Test::Utils::tempdir();
my $run = run_at($node, 'report', '-o', "$dir/report.html");
cmp_ok($run->{rc}, '<', 2, 'writes a page') or diag $run->{err};
my $page = slurp_file("$dir/report.html");
ok(!-e "$dir/report.html.new", '... and leaves nothing beside it');
unlike($page, qr/<script>alert/, 'a hostile name stays text');
is(scalar(() = $page =~ m{</script>}g), 2, '... and ends no script');
my ($data) = $page =~ m{<script type="application/json" id="data">(.*?)</script>}s;
my $report = JSON::PP->new->utf8->decode($data);
ok((grep { index($_->{reason}, '</script>') >= 0 } @{ $report->{steps} }), '... but is told in full');
cmp_ok(scalar(@{ $report->{steps} }), '>=', 2, 'steps with their reasons');
ok(@{ $report->{cards} } >= 4 && @{ $report->{checkpoints} } >= 1, 'figures and checkpoints');
# The record of WAL is younger than one checkpoint_timeout, or a little older on a slow machine.
ok(@{ $report->{what_if} } || (grep { /what-if.*too short to tell/ } @{ $report->{notes} }),
	'what other sizes would have done, or that it is too early to tell');
unlike($page, qr{(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(|\@import|fetch\(|XMLHttpRequest}, 'nothing comes from a network');
like($page, qr/default-src 'none'/, '... which the page itself forbids');

# With one checkpoint_timeout on record the chart appears.
my $recorded = start_node(new_node('recorded', { checkpoint_timeout => '30s', 'walsizer.enable' => 'off' }));
$load = start_wal($recorded, rate => 10, seconds => 60);
eventually('enough to tell from', sub { ($recorded->psql('postgres', 'SELECT * FROM walsizer.what_if()'))[0] == 0 }, 120);
$run = run_at($recorded, 'report', '-o', '-');
my @rows = rows($recorded, 'SELECT * FROM walsizer.what_if()');
stop_load($load);
($data) = $run->{out} =~ m{<script type="application/json" id="data">(.*?)</script>}s;
my $chart = JSON::PP->new->utf8->decode($data)->{what_if};
is_deeply([ map { $_->{size} } @$chart ], [ map { $_->{max_wal_size} } @rows ], 'the what-if chart has the sizes of what_if()');
is(scalar(grep { $_->{mark} eq 'present' && $_->{forced} > 0 && $_->{bound} eq '' } @$chart), 1, '... the present one, which forces');
my ($largest) = $chart->[-1];
is($largest->{forced}, 0, '... and the largest, which does not');

# A server without the extension is watched.
$node->safe_psql('postgres', 'DROP EXTENSION walsizer');
$run = run_at($node, 'report', '-o', '-', '--for', '2s');
cmp_ok($run->{rc}, '<', 2, 'without the extension it watches');
like($run->{out}, qr/"verdict":\{"title":"(?:Keep|Raise) max_wal_size/, '... and gives a verdict');

is(run_at($node, 'report')->{rc}, 2, 'a page needs a file');
$run = run_at($node, 'report', '-o', "$dir/no/such/place.html", '--for', '0s');
is($run->{rc}, 2, 'a file that cannot be written is an error');
like($run->{err}, qr/cannot write/, '... that says so');

done_testing();
