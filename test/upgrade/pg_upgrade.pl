
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# pg_upgrade with walsizer preloaded and in use on both sides: it works, starts no worker in between, and the extension is
# as a fresh one afterwards. The new server knows nothing of the old one's max_wal_size; two files bring it along.
#
# WALSIZER_OLDER is the installation of the older server; scripts/test.sh sets it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../t/lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerDamage;
use WalsizerTest;
use WalsizerUpgrade;

my $older = $ENV{WALSIZER_OLDER};
plan skip_all => 'WALSIZER_OLDER does not name the installation of an older server' if !$older;
my ($major) = `pg_config --version` =~ /PostgreSQL (\d+)/;
# Where pg_upgrade leaves its logs, and what its options are called.
plan skip_all => "PostgreSQL $major: this test knows pg_upgrade from 15 on" if $major < 15;

# ---- The old server: raised, with a journal ------------------------------------------------------------------------

my %settings = (checkpoint_timeout => '300s', max_wal_size => '64MB', 'walsizer.disk_reserve' => 0);
my $old = new_node('old', \%settings, install_path => $older);
start_node($old);
my $load = start_wal($old, rate => 20, seconds => 60);
eventually('a raise', sub { max_wal_size($old) >= 256 * MB });
stop_load($load);
# The last change has arrived, and its outcome is in the history.
eventually('its outcome', sub { value($old, q{SELECT outcome FROM walsizer.decisions ORDER BY id DESC LIMIT 1}) eq 'effective' });
my $raised    = max_wal_size($old);
my $decisions = decision_ids($old);
my $auto_conf = auto_conf($old);
like($auto_conf, qr/^max_wal_size = '/, "the old server's postgresql.auto.conf says $auto_conf");
my $versions = $old->safe_psql('postgres', 'SHOW server_version') . ' to ';
my $checksums = value($old, 'SHOW data_checksums');
$old->stop;

# ---- The upgrade ---------------------------------------------------------------------------------------------------

# From 18 on initdb switches checksums on by itself; both sides must agree.
my $new = new_node('new', \%settings, $major >= 18 && $checksums eq 'off' ? (extra => ['--no-data-checksums']) : ());

sub pg_upgrade
{
	my (@options) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my ($out, $err) = ('', '');
	chdir $dir or die "cannot change to $dir: $!";
	my $ok = IPC::Run::run(
		[   'pg_upgrade', '--no-sync', '-b', "$older/bin", '-B', bin_dir(), '-d', $old->data_dir, '-D', $new->data_dir,
			'-s', $old->host, '-p', $old->port, '-P', $new->port, @options ],
		'<', \undef, '>', \$out, '2>', \$err);
	chdir $FindBin::RealBin;
	diag($out, $err, map { ("$_:\n", slurp_file($_)) } glob($new->data_dir . '/pg_upgrade_output.d/*/log/*')) if !$ok;
	return ($ok, $out);
}
sub bin_dir { chomp(my $dir = `pg_config --bindir`); return $dir; }

my ($ok, $out) = pg_upgrade('--check');
ok($ok, 'pg_upgrade --check');
like($out, qr/Clusters are compatible/, 'the clusters are compatible');
($ok, $out) = pg_upgrade('--retain');
ok($ok, 'pg_upgrade') or BAIL_OUT('nothing to look at');
my @logs = glob($new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_server.log');
cmp_ok(scalar(@logs), '>=', 1, 'with the log of its servers');
unlike(join('', map { slurp_file($_) } @logs), qr/walsizer \S+ starts/, 'in which no worker of walsizer started');

# ---- Afterwards ----------------------------------------------------------------------------------------------------

subtest 'the new server starts where its own configuration says' => sub {
	$new->start;
	look($new);
	$versions .= $new->safe_psql('postgres', 'SHOW server_version');
	is(max_wal_size($new), 64 * MB, "$versions: max_wal_size is what the new postgresql.conf says");
	is(auto_conf($new), '', 'pg_upgrade brought no postgresql.auto.conf along');
	is(value($new, 'SELECT count(*) FROM walsizer.decisions'), 0, 'nor the journal');
	is(status($new)->{state}, 'tuning', 'walsizer works');
};

subtest 'the extension is like a fresh one' => sub {
	value($new, 'CREATE DATABASE fresh');
	$new->safe_psql('fresh', 'CREATE EXTENSION walsizer');
	my %upgraded = extension_objects($new, 'postgres');
	my %fresh    = extension_objects($new, 'fresh');
	cmp_ok(scalar(keys %upgraded), '>=', 15, keys(%upgraded) . ' objects');
	is_deeply([ differences(\%upgraded, \%fresh) ], [], 'all the same');
	cmp_ok(read_everything($new, 'postgres'), '>=', 5, 'its views can be read');
	is($new->psql('postgres', 'SELECT walsizer.evaluate()'), 0, 'it can act');
};

subtest 'it raises on the new server' => sub {
	my $again = start_wal($new, rate => 20, seconds => 60);
	ok(soon(sub { max_wal_size($new) > 64 * MB }, 60), 'raised');
	stop_load($again);
	is(row($new, 'SELECT * FROM walsizer.undo()')->{new_size}, 64 * MB, 'and undone');
	is(auto_conf($new), '', 'without a trace');
};

# Before the first start: what the old server was raised to, and why. Here after an undo(), so the files are what they were.
subtest 'a line and a file bring along what walsizer did' => sub {
	$new->stop;
	my $page = slurp_file("$FindBin::RealBin/../../docs/backup-and-upgrade.md");
	my ($commands) = $page =~ m{<!-- run by: test/upgrade/pg_upgrade\.pl -->\n```sh\n(.*?)^```}ms;
	local $ENV{OLD} = $old->data_dir;
	local $ENV{NEW} = $new->data_dir;
	is(system('bash', '-euc', $commands // 'false'), 0, "the page's commands succeed");
	my $offset = log_size($new);
	$new->start;
	look($new);
	is(max_wal_size($new), $raised, sprintf('it starts with %d MB', $raised / MB));
	is(scalar(log_lines($new, $offset, qr/LOG:.*walsizer's history was written elsewhere/)), 1, 'the log says where the history comes from');
	is(scalar(log_lines($new, $offset, qr/walsizer sets aside/)), 0, 'another major version wrote it, and it is read');
	like(decision_ids($new), qr/^\Q$decisions\E/, 'the journal goes on');
	is(status($new)->{original_size}, 64 * MB, 'the original is known');
	is(row($new, 'SELECT * FROM walsizer.undo()')->{new_size}, 64 * MB, 'undo() puts it back');
	is(auto_conf($new), '', 'exactly');
	is(max_wal_size($new), 64 * MB, 'and the server runs with it');
};

done_testing();
