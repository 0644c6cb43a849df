// How the library was loaded, and what that means for its SQL functions.
#pragma once

#include "compat.hpp"

// Why walsizer does nothing in this server although it is preloaded; NULL when it works.
extern const char* walsizer_inactive_reason;

// Raises the error that tells what to do, unless walsizer is preloaded and active.
void walsizer_require_active();
