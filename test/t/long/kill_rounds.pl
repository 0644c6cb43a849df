
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The same with 50 rounds, and 20 crash restarts over a damaged history.
#
# About 10 minutes.

use strict;
use warnings;

use FindBin;
use Test::More;
# Here, because its INIT blocks want to be compiled before the tests start.
use WalsizerTest;

$ENV{WALSIZER_TEST_ROUNDS}  = 50;
$ENV{WALSIZER_TEST_CRASHES} = 20;
foreach my $name (qw(053_kill_rounds 054_crash_and_damage))
{
	subtest $name => sub {
		my $test = "$FindBin::RealBin/../$name.pl";
		do $test or die $@ || "could not run $test: $!";
	};
}
done_testing();
