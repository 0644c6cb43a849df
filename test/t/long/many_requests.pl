
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The same with 200 databases that come and go.

use strict;
use warnings;

use FindBin;
use WalsizerTest;    # now: what it builds on wants to be there before the run begins

$ENV{WALSIZER_TEST_DATABASES} = 200;
my $test = "$FindBin::RealBin/../010_requests_never_raise.pl";
do $test or die $@ || "could not run $test: $!";
