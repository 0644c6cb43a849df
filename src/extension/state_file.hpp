// The history file: pg_stat/walsizer.history in the data directory.
#pragma once

#include "shared_state.hpp"

// Reads the file into shared memory (the caller is the worker and holds no lock). Missing: an empty history.
// Damaged or foreign: set aside under another name, and logged. Never ereports ERROR.
void walsizer_load_history(walsizer::TunerMemory* memory);

// Writes it durably, by way of a temporary file. False when it could not be written; that is logged, at most
// once an hour. Lets interrupts in between slow system calls.
bool walsizer_save_history();
