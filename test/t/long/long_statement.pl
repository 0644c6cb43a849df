
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The same with a statement of 20 s.

use strict;
use warnings;

use FindBin;
use WalsizerTest;    # now: what it builds on wants to be there before the run begins

$ENV{WALSIZER_TEST_STATEMENT_SECONDS} = 20;
my $test = "$FindBin::RealBin/../012_long_statement.pl";
do $test or die $@ || "could not run $test: $!";
