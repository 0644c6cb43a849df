// The journal, copied out of shared memory, so that whoever reads it at length holds no lock.
#pragma once

#include "shared_state.hpp"

struct WalsizerJournalCopy {
    walsizer::DecisionRecord* decisions;
    walsizer::WindowRecord* windows;
    walsizer::CheckpointRecord* checkpoints;
    uint64 written[3];
    walsizer::Totals totals;
    // Taken at the same moment.
    bool watching;  // the worker runs, and has looked
    walsizer::WindowRecord open_window;
    TimestampTz open_window_due;
    walsizer::Tuner tuner;
};

// In the current memory context.
WalsizerJournalCopy* walsizer_copy_journal();

walsizer::Journal walsizer_view(WalsizerJournalCopy* copy);
