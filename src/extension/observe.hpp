// One look at this server, from inside.
#pragma once

#include "compat.hpp"
#include "walsizer/observation.hpp"

walsizer::Micros walsizer_monotonic_clock();

// `first`: also finds out how old the present checkpoint is. Cheap: shared memory and a clock, no SQL; up to
// PostgreSQL 14 statistics are read only when the redo point has moved and some seconds later.
walsizer::Observation walsizer_observe(bool first);
