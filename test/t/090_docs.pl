
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Documentation that cannot rot: every command in README.md and docs/*.md is run here, in the order of its page, against a
# server.
#
# ```sql blocks go through psql as a superuser, ```sh blocks through bash with PGDATA set; both must succeed. ```ini blocks
# must be lines that the server accepts, ```yaml blocks must parse and name settings that exist. ```text is output or
# somebody else's configuration and is not run. A page says in a comment what a block needs that the reader has at that point:
#     <!-- needs: a raise -->
# or which script of the project runs the block, because it needs more than a server; that script must read the page:
#     <!-- run by: scripts/package.sh -->

use strict;
use warnings;

use CPAN::Meta::YAML;
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;

use constant RUNS => { map { $_ => 1 } qw(sql sh ini yaml text) };

# bench/storm.sh --quick, also with sudo or settings before it
use constant OWN_SCRIPT => qr{^(?:\S+=\S+ |sudo )*((?:scripts|bench)/\S+\.sh)(.*)};

my @pages = ('README.md', sort glob('docs/*.md'));
plan skip_all => 'the documentation is not here' unless @pages > 1;

my $node = new_node('main');
start_node($node);
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGUSER} = value($node, 'SELECT current_user');
$ENV{PGDATABASE} = 'postgres';
$ENV{PGDATA} = $node->data_dir;
my $file = PostgreSQL::Test::Utils::tempdir() . '/block';

my %set_up = (
	'a raise' => sub {
		eventually('the worker', sub { status($node)->{worker_pid} });
		value($node, 'ALTER SYSTEM RESET walsizer.dry_run');
		value($node, 'ALTER SYSTEM RESET walsizer.max');
		$node->reload;
		eventually('a state that raises', sub { status($node)->{state} =~ /tuning|at_ceiling|starting/ });
		my $size = max_wal_size($node);
		my $load = start_wal($node, rate => 30, seconds => 60);
		eventually('a raise', sub { max_wal_size($node) > $size });
		stop_load($load);
	},
	'a whole timeout' => sub {
		eventually('a whole timeout on record', sub { ($node->psql('postgres', 'SELECT FROM walsizer.what_if()'))[0] == 0 }, 120);
	},
	'a line left behind' => sub {
		append_to_file($node->data_dir . '/postgresql.auto.conf', "walsizer.max = '4GB'\n");
		$node->reload;
	});

sub blocks
{
	my ($page) = @_;
	my ($language, @blocks);
	my %note = ();
	my $number = 0;
	foreach my $line (split /^/, slurp_file($page))
	{
		$number++;
		if ($line =~ /^```(.*)/)
		{
			if (defined $language) { $language = undef; next }
			$language = $1;
			push @blocks, { language => $language, line => $number, text => '', %note };
			%note = ();
		}
		elsif (defined $language) { $blocks[-1]{text} .= $line }
		elsif ($line =~ /^<!-- (needs|run by): (.*) -->$/) { $note{$1} = $2 }
	}
	die "$page: a block is not closed" if defined $language;
	return @blocks;
}

sub run_block
{
	my ($block) = @_;
	open my $handle, '>', $file or die "$file: $!";
	print $handle $block->{text};
	close $handle;
	my ($out, $err) = ('', '');
	my @command =
	  $block->{language} eq 'sql' ? ('psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $file) : ('bash', '-eu', $file);
	my $ok = IPC::Run::run(\@command, '<', \undef, '>', \$out, '2>', \$err);
	return $ok ? '' : ($err || $out || 'failed without a word');
}

# The project's own scripts: there, and with the options that the page gives them.
sub judge_scripts
{
	my ($block) = @_;
	foreach my $line (split /\n/, $block->{text})
	{
		my ($script, $arguments) = $line =~ OWN_SCRIPT or next;
		return "there is no program $script" unless -x $script;
		$arguments =~ s/#.*//;
		my ($help) = run_command([ 'bash', $script, '--help' ]);
		foreach my $option ($arguments =~ /(?<!\S)(--[\w-]+)/g)
		{
			return "$script has no option $option" unless $help =~ /\Q$option\E\b/;
		}
	}
	return '';
}

# A script that says it runs a page's blocks takes them from that page, by that mark.
sub judge_runner
{
	my ($script, $page) = @_;
	return "there is no $script" unless -e $script;
	my $text = join '', map { slurp_file($_) } $script, glob($script =~ s/\.sh$//r . '/*.sh');
	return "$script does not read $page" unless $text =~ /(?<!\w)\Q$page\E/;
	# As text or in a pattern, whose slashes are masked.
	return "$script does not look for its mark" unless ($text =~ s{\\(?=[/.])}{}gr) =~ /run by: \Q$script\E/;
	return '';
}

# What the server says of these lines, without loading them.
sub judge_ini
{
	my ($block) = @_;
	my $conf = $node->data_dir . '/docs.conf';
	append_to_file($node->data_dir . '/postgresql.conf', "include 'docs.conf'\n");
	append_to_file($conf, $block->{text});
	my $errors = value($node, q{SELECT string_agg(name || ': ' || error, ', ') FROM pg_file_settings
		WHERE sourcefile ~ 'docs.conf' AND error !~ 'could not be applied'});
	my $unknown = value($node, q{SELECT string_agg(f.name, ', ') FROM pg_file_settings f
		LEFT JOIN pg_settings s USING (name) WHERE f.sourcefile ~ 'docs.conf' AND s.name IS NULL});
	my $text = slurp_file($node->data_dir . '/postgresql.conf');
	$text =~ s/^include 'docs.conf'\n//m;
	unlink $conf;
	open my $handle, '>', $node->data_dir . '/postgresql.conf' or die $!;
	print $handle $text;
	close $handle;
	return join(', ', grep { ($_ // '') ne '' } $errors, $unknown);
}

sub judge_yaml
{
	my ($block) = @_;
	my $document = eval { CPAN::Meta::YAML->read_string($block->{text})->[0] } or return "it does not parse: $@";
	my $postgresql = ($document->{spec} // $document)->{postgresql} or return 'no postgresql section';
	foreach my $name (keys %{ $postgresql->{parameters} })
	{
		return "$name is no setting" unless value($node, "SELECT count(*) FROM pg_settings WHERE name = '$name'");
	}
	return '';
}

# Each page begins with the server as a reader has it: the extension there, nothing set.
sub begin_page
{
	if (!value($node, q{SELECT count(*) FROM pg_settings WHERE name = 'walsizer.enable'}))
	{
		$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', q{'walsizer'});
		$node->restart;
	}
	value($node, 'ALTER SYSTEM RESET ALL');
	$node->reload;
	$node->psql('postgres', 'DROP OWNED BY oncall');
	$node->psql('postgres', 'DROP ROLE oncall');
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS walsizer');
	look($node);
	$node->psql('postgres', 'SELECT walsizer.resume()');
}

# docs/removing.md says so.
sub nothing_left
{
	my @files = glob($node->data_dir . '/pg_stat/walsizer*');
	is("@files", '', 'no file is left behind');
	unlike(auto_conf($node), qr/walsizer|max_wal_size/, 'and no line');
	is(value($node, q{SELECT count(*) FROM pg_extension WHERE extname = 'walsizer'}), 0, 'and no extension');
	return;
}

foreach my $page (@pages)
{
	my @blocks = blocks($page);
	subtest $page => sub {
		begin_page();
		# A page that teaches CREATE EXTENSION begins without it.
		$node->safe_psql('postgres', 'DROP EXTENSION walsizer')
		  if grep { $_->{language} eq 'sql' && $_->{text} =~ /^CREATE EXTENSION walsizer/m } @blocks;
		append_to_file($node->data_dir . '/pg_stat/walsizer.history.damaged', 'x') if $page eq 'docs/removing.md';
		foreach my $block (@blocks)
		{
			my ($first) = $block->{text} =~ /^(.*)/;
			my $name = "line $block->{line}: $first";
			if (!RUNS->{ $block->{language} }) { fail("$name: is it sql, sh, ini, yaml or text?"); next }
			next if $block->{language} eq 'text' && !$block->{'run by'};
			$set_up{ $block->{needs} }->() if $block->{needs};
			if (my $script = $block->{'run by'}) { is(judge_runner($script, $page), '', "$name: run by $script"); next }
			if ($block->{language} eq 'sh' && !grep { !/${\ OWN_SCRIPT}/ } split /\n/, $block->{text})
			{
				is(judge_scripts($block), '', $name);
				next;
			}
			my $judge = { ini => \&judge_ini, yaml => \&judge_yaml }->{ $block->{language} } // \&run_block;
			is($judge->($block), '', $name);
		}
		nothing_left() if $page eq 'docs/removing.md';
		pass('it can be read') unless grep { $_->{language} ne 'text' } @blocks;
		my ($folder) = $page =~ m{^(.*/)};
		foreach my $target (slurp_file($page) =~ /\]\(([^)#:\s]+)[^):]*\)/g)
		{
			ok(-e ($folder // '') . $target, "a link leads to $target");
		}
	};
}

subtest 'no setting is missing, and no default is wrong' => sub {
	my $text = slurp_file('docs/settings.md');
	foreach my $setting (rows($node, q{SELECT substr(name, 10) AS name, current_setting(name) AS value FROM pg_settings
			WHERE name LIKE 'walsizer.%' AND source = 'default' ORDER BY name}))
	{
		my $value = quotemeta $setting->{value};
		like($text, qr/^\*\*`$setting->{name}`\*\* \($value\b/m, "$setting->{name} is $setting->{value} by default");
	}
};

done_testing();
