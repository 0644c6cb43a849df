// The background worker: observe, let the engine decide, carry out, record.
#pragma once

#include "compat.hpp"

// In _PG_init().
void walsizer_register_worker();

extern "C" PGDLLEXPORT void walsizer_worker_main(Datum argument);
