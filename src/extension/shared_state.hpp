// What all processes of the server see of walsizer: one block of shared memory behind one lock.
#pragma once

#include "compat.hpp"
#include "recovery_watch.hpp"
#include "walsizer/history.hpp"
#include "walsizer/tuner.hpp"

// Requests of SQL functions to the worker. Several may wait; each has a ticket, and its answer stays readable
// for kTickets further requests, so that a caller who gives up needs no clean-up.
struct WalsizerRequest {
    walsizer::Command command;
    walsizer::CommandResult result;
    bool done;
};

struct WalsizerShared {
    static constexpr uint32 kTickets = 16;

    // Protects everything below. The tuner's calls under it are pure computation of some microseconds.
    LWLock* lock;

    pid_t worker_pid;                      // 0: no worker
    Latch* worker_latch;                   // valid while worker_pid is not 0
    WalsizerRecoveryStart recovery_start;  // noted before recovery; used by the worker's first look
    bool loaded;                           // the worker has read the history and the rest is meaningful
    TimestampTz sampled_at;

    uint64 tickets_drawn;
    uint64 tickets_served;
    ConditionVariable answered;
    WalsizerRequest requests[kTickets];

    walsizer::Tuner tuner;
    walsizer::Totals totals;
    uint64 written[4];
    uint32 window_capacity;
    // decisions, windows, checkpoints and buckets follow, each aligned
};

// NULL unless walsizer is in shared_preload_libraries.
extern WalsizerShared* walsizer_shared;

// In _PG_init(): asks for the memory and hooks into its creation.
void walsizer_request_shared_memory(uint32 window_capacity);

// A view of the journal; the caller holds the lock.
walsizer::Journal walsizer_journal();
