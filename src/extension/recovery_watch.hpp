// Crash recoveries of this server: from where they started, and how long they took.
#pragma once

#include "compat.hpp"
#include "walsizer/recovery.hpp"

// What is known before recovery begins; kept in shared memory.
struct WalsizerRecoveryStart {
    bool crashed;  // the server was not shut down, and no backup or standby decides where replay begins
    XLogRecPtr redo;
    walsizer::Micros at;  // monotonic
};

// In the postmaster, when shared memory is set up: also after the crash of a backend. Never ereports ERROR.
WalsizerRecoveryStart walsizer_note_recovery_start();

// In the worker's first look after it. False: there was no crash recovery.
bool walsizer_measure_recovery(const WalsizerRecoveryStart& start, walsizer::RecoverySample* sample);
