
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Who may see and do what: an ordinary role nothing, pg_monitor reads all, the acting functions are granted by hand.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my @views  = qw(status stat decisions windows checkpoints);
my @acting = qw(evaluate undo resume reset);

my $node = new_node('main');
start_node($node);
value($node, 'CREATE ROLE ordinary LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor');

# (exit code, output, error) of one command under that role.
sub as
{
	my ($role, $sql) = @_;
	return $node->psql('postgres', $sql, extra_params => [ '-U', $role ]);
}

subtest 'an ordinary role sees nothing and is told why' => sub {
	foreach my $what ((map { "SELECT * FROM walsizer.$_" } @views),
		(map { "SELECT * FROM walsizer.$_()" } 'recommend', @acting))
	{
		my ($rc, $out, $err) = as('ordinary', $what);
		isnt($rc, 0, "$what fails");
		is($out, '', "$what shows nothing");
		like($err, qr/permission denied for (?:schema|view|table|function) "?\w+/, "$what: a permission error");
	}
};

subtest 'a member of pg_monitor reads everything' => sub {
	foreach my $view (@views)
	{
		my ($rc, undef, $err) = as('watcher', "SELECT * FROM walsizer.$view");
		is($rc, 0, "reads walsizer.$view") or diag($err);
	}
	my ($rc, $out, $err) = as('watcher', 'SELECT walsizer.recommend()');
	is($rc, 0, 'asks recommend()') or diag($err);
	like($out, qr/max_wal_size/, 'recommend() answers with a line for max_wal_size');
};

subtest 'a member of pg_monitor acts only when granted' => sub {
	foreach my $function (@acting)
	{
		my ($rc, undef, $err) = as('watcher', "SELECT * FROM walsizer.$function()");
		isnt($rc, 0, "$function() fails");
		like($err, qr/permission denied for function $function/, "$function(): a permission error");
	}
	value($node, 'GRANT EXECUTE ON FUNCTION walsizer.evaluate() TO watcher');
	my ($rc, undef, $err) = as('watcher', 'SELECT * FROM walsizer.evaluate()');
	is($rc, 0, 'evaluate() works once granted') or diag($err);
};

subtest 'every format of recommend() answers, an unknown one is refused' => sub {
	foreach my $format (qw(sql conf patroni cnpg rds))
	{
		my ($rc, $out, $err) = as('watcher', "SELECT walsizer.recommend('$format')");
		is($rc, 0, "recommend('$format')") or diag($err);
		like($out, qr/max_wal_size/, "recommend('$format') speaks of max_wal_size");
	}
	my ($rc, undef, $err) = as('watcher', q{SELECT walsizer.recommend('punch card')});
	isnt($rc, 0, 'an unknown format is refused');
	like($err, qr/patroni/, 'and the message lists the known ones');
};

done_testing();
