
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# A setting out of bounds is refused by the server, which names the bounds; sizes take units.

use strict;
use warnings;

use Test::More;
use WalsizerTest;

my $node = new_node('main');
start_node($node);

subtest 'every setting tells what it is' => sub {
	foreach my $setting (rows($node, q{SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'walsizer.%' ORDER BY name}))
	{
		isnt($setting->{short_desc} // '', '', "$setting->{name} has a short description");
		isnt($setting->{extra_desc} // '', '', "$setting->{name} has a long description");
	}
};

subtest 'a number out of bounds is refused with its bounds' => sub {
	foreach my $setting (
		rows($node, q{SELECT name, vartype, min_val, max_val FROM pg_settings
			WHERE name LIKE 'walsizer.%' AND vartype IN ('integer', 'real') ORDER BY name}))
	{
		my ($name, $min, $max) = @$setting{qw(name min_val max_val)};
		foreach my $wrong ($min - 1, $max + 1)
		{
			# Past the end of the integers the server has no bounds to name, but says why.
			my $says =
			  $setting->{vartype} eq 'integer' && $wrong > 2147483647
			  ? qr/invalid value for parameter "\Q$name\E".*Value exceeds integer range/s
			  : qr/is outside the valid range for parameter "\Q$name\E" \(\Q$min\E .*\.\. \Q$max\E/;
			my ($rc, undef, $err) = $node->psql('postgres', "ALTER SYSTEM SET $name = '$wrong'");
			isnt($rc, 0, "$name = $wrong is refused");
			like($err, $says, "$name = $wrong: the message names the bounds");
		}
	}
};

subtest 'a wrong line in postgresql.conf changes nothing and is named in the log' => sub {
	my $offset = log_size($node);
	my $before = value($node, 'SHOW walsizer.threshold');
	$node->append_conf('postgresql.conf', 'walsizer.threshold = 0');
	$node->reload;
	ok( eventually('the log line', sub { log_lines($node, $offset, qr/0 is outside the valid range for parameter "walsizer.threshold" \(1 \.\./) }),
		'the server names the bounds');
	look($node);
	is(value($node, 'SHOW walsizer.threshold'), $before, 'the value before stays');
	$node->append_conf('postgresql.conf', "walsizer.threshold = $before");
	$node->reload;
};

subtest 'an unknown name is refused' => sub {
	my ($rc, undef, $err) = $node->psql('postgres', 'ALTER SYSTEM SET walsizer.no_such_setting = 1');
	isnt($rc, 0, 'ALTER SYSTEM fails');
	like($err, qr/walsizer\.no_such_setting/, 'and names it');
};

subtest 'sizes take units' => sub {
	value($node, q{ALTER SYSTEM SET walsizer.max = '256MB'});
	$node->reload;
	ok( eventually('the new ceiling in the status', sub { status($node)->{ceiling} == 256 * MB }),
		'walsizer.max = 256MB is the ceiling after a reload');
	is(status($node)->{limited_by}, 'max', 'and is named as what limits');
	value($node, 'ALTER SYSTEM RESET walsizer.max');
	$node->reload;
};

subtest 'only the size of the history needs a restart' => sub {
	is( value($node, q{SELECT string_agg(name || ' ' || context, ', ' ORDER BY name) FROM pg_settings
			WHERE name LIKE 'walsizer.%' AND context <> 'sighup'}),
		'walsizer.history_size postmaster',
		'context');
};

done_testing();
