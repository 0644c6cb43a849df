
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# The same with WAL segments of 1 GB.
#
# About 1 minute and 8 GB.

use strict;
use warnings;

use FindBin;
use WalsizerTest;    # now: what it builds on wants to be there before the run begins

$ENV{WALSIZER_TEST_BIG_SEGMENTS} = 1;
my $test = "$FindBin::RealBin/../059_segments_and_neighbours.pl";
do $test or die $@ || "could not run $test: $!";
