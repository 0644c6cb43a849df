
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# walsizer status and walsizer watch, with the extension and without it.

use strict;
use warnings;

use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerProgram;
use WalsizerTest;

my $node = start_node(new_node('shown', {}));

my $run = run_at($node, 'status');
is($run->{rc}, 0, 'a healthy server is no finding') or diag $run->{err};
like($run->{out}, qr/^State         tuning, since /m, 'status tells the state');
like($run->{out}, qr/^Ceiling       .*, by \S/m, '... and the ceiling that governs');
like($run->{out}, qr/^Decisions \(\d+ so far\)$/m, '... and decisions');
# A path to a file is one word, however long.
ok(!(grep { length > 80 && !m{/} } split /\n/, $run->{out} =~ s/[\x80-\xbf]//gr), '... in 80 columns');

$run = run_at($node, 'status', '--format', 'json');
my $json = json_of($run);
is($json->{status}{max_wal_size}, 64 * MB, 'JSON holds the view as it is');
is_deeply([ sort keys %{ $json->{status} } ], [ sort split /\n/, $node->safe_psql('postgres',
	q{SELECT attname FROM pg_attribute WHERE attrelid = 'walsizer.status'::regclass AND attnum > 0}) ],
	'... with all its columns');
is(ref $json->{decisions}, 'ARRAY', '... and decisions');

# A ceiling below the need asks for attention.
$node->safe_psql('postgres', "ALTER SYSTEM SET walsizer.max = '64MB'");
$node->reload;
my $load = start_wal($node, rate => 8, seconds => 20);
eventually('at_ceiling', sub { status($node)->{state} eq 'at_ceiling' });
is(run_at($node, 'status')->{rc}, 1, 'a need above the ceiling is a finding');
stop_load($load);

$run = run_at($node, 'watch', '--count', '3', '--interval', '200ms');
my @lines = split /\n/, $run->{out};
is(scalar(@lines), 4, 'watch --count prints a heading and so many lines');
like($lines[0], qr/^time +state +max_wal_size/, '... the heading');
like($lines[3], qr/^\d\d:\d\d:\d\d \w+ +64MB +/, '... and values');
$run = run_at($node, 'watch', '--count', '2', '--interval', '200ms', '--format', 'json');
is(scalar(grep { JSON::PP->new->decode($_)->{state} } split /\n/, $run->{out}), 2, 'JSON: a line each');
$run = run_at($node, 'watch', '--count', '2', '--interval', '200ms', '--format', 'csv');
is(scalar(split /\n/, $run->{out}), 3, 'CSV: a heading and a line each');

# On a terminal: a screen that is redrawn, and put back by Ctrl-C and by SIGTERM.
SKIP:
{
	skip 'script (util-linux) is not here', 4 if system('script --version >/dev/null 2>&1') != 0;
	foreach my $signal (qw(INT TERM))
	{
		my $screen = '';
		local $ENV{TERM} = 'xterm';
		my $command = program() . ' watch "' . $node->connstr('postgres') . '"';
		my $pid_file = PostgreSQL::Test::Utils::tempdir() . '/watch.pid';
		my $handle = IPC::Run::start([ 'script', '-qfec', "echo \$\$ >$pid_file; exec $command", '/dev/null' ],
			'<', \my $in, '>', \$screen, '2>&1', IPC::Run::timeout(120));
		eventually('a screen', sub { $handle->pump_nb; $screen =~ /q or Ctrl-C ends/ });
		like($screen, qr/^\e\[\?1049h/, "$signal: the view takes a screen of its own");
		kill $signal => int slurp_file($pid_file);
		eventually('the end', sub { eval { $handle->pump_nb }; !$handle->pumpable });
		like($screen, qr/\e\[\?25h\e\[\?1049l/, '... and gives it back');
	}
}

# Without the extension: what to do instead.
$node->safe_psql('postgres', 'DROP EXTENSION walsizer');
foreach my $command (qw(status watch))
{
	$run = run_at($node, $command);
	is($run->{rc}, 2, "$command without the extension is an error");
	like($run->{err}, qr/CREATE EXTENSION walsizer.*walsizer advise/s, '... that says what to do');
}
$node->safe_psql('postgres', 'CREATE EXTENSION walsizer; CREATE ROLE plain LOGIN');
$run = run_at($node, 'status', '-U', 'plain');
is($run->{rc}, 2, 'a role without rights is told');
like($run->{err}, qr/GRANT pg_monitor/, '... which role would do');

done_testing();
