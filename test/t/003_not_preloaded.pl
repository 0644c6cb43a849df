
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# Without the preload the extension can be created, and everything in it says which line is missing.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = new_node('main', { shared_preload_libraries => '' });
$node->start;
value($node, 'CREATE EXTENSION walsizer');

my @calls = (
	(map { "SELECT * FROM walsizer.$_" } qw(status stat decisions windows checkpoints)),
	(map { "SELECT * FROM walsizer.$_()" } qw(recommend evaluate undo resume reset)));

foreach my $call (@calls)
{
	my ($rc, undef, $err) = $node->psql('postgres', $call);
	isnt($rc, 0, "$call fails");
	like($err, qr/shared_preload_libraries = '[^']*walsizer[^']*'/, "$call names the missing line");
}

is($node->psql('postgres', 'DROP EXTENSION walsizer'), 0, 'the extension can be dropped again');

done_testing();
