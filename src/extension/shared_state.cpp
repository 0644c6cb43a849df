#include "shared_state.hpp"

WalsizerShared* walsizer_shared = NULL;

static uint32 requested_windows = 0;
static shmem_startup_hook_type previous_startup_hook = NULL;
#if WALSIZER_HAS_SHMEM_REQUEST_HOOK
static shmem_request_hook_type previous_request_hook = NULL;
#endif

static Size walsizer_shared_size(uint32 windows) {
    Size size = MAXALIGN(sizeof(WalsizerShared));
    size = add_size(size, MAXALIGN(mul_size(walsizer::kDecisionCapacity, sizeof(walsizer::DecisionRecord))));
    size = add_size(size, MAXALIGN(mul_size(windows, sizeof(walsizer::WindowRecord))));
    size =
        add_size(size, MAXALIGN(mul_size(walsizer::kCheckpointCapacity, sizeof(walsizer::CheckpointRecord))));
    return add_size(size, MAXALIGN(mul_size(walsizer::kBucketCapacity, sizeof(walsizer::WalBucket))));
}

static void walsizer_shmem_request() {
#if WALSIZER_HAS_SHMEM_REQUEST_HOOK
    if (previous_request_hook) previous_request_hook();
#endif
    RequestAddinShmemSpace(walsizer_shared_size(requested_windows));
    RequestNamedLWLockTranche("walsizer", 1);
}

// Runs in the postmaster, also when it restarts everything after a crash, where an ERROR would end the
// server: it only zeroes memory and notes facts of the control file. The worker reads the history.
static void walsizer_shmem_startup() {
    if (previous_startup_hook) previous_startup_hook();
    bool found = false;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    const Size size = walsizer_shared_size(requested_windows);
    walsizer_shared = (WalsizerShared*)ShmemInitStruct("walsizer", size, &found);
    if (!found) {
        memset((void*)walsizer_shared, 0, size);
        walsizer_shared->lock = &GetNamedLWLockTranche("walsizer")->lock;
        walsizer_shared->window_capacity = requested_windows;
        ConditionVariableInit(&walsizer_shared->answered);
    }
    LWLockRelease(AddinShmemInitLock);
    if (!found) walsizer_shared->recovery_start = walsizer_note_recovery_start();
}

void walsizer_request_shared_memory(uint32 window_capacity) {
    requested_windows = window_capacity;
#if WALSIZER_HAS_SHMEM_REQUEST_HOOK
    previous_request_hook = shmem_request_hook;
    shmem_request_hook = walsizer_shmem_request;
#else
    walsizer_shmem_request();
#endif
    previous_startup_hook = shmem_startup_hook;
    shmem_startup_hook = walsizer_shmem_startup;
}

walsizer::Journal walsizer_journal() {
    WalsizerShared* shared = walsizer_shared;
    char* at = (char*)shared + MAXALIGN(sizeof(WalsizerShared));
    auto* decisions = (walsizer::DecisionRecord*)at;
    at += MAXALIGN(walsizer::kDecisionCapacity * sizeof(walsizer::DecisionRecord));
    auto* windows = (walsizer::WindowRecord*)at;
    at += MAXALIGN(shared->window_capacity * sizeof(walsizer::WindowRecord));
    auto* checkpoints = (walsizer::CheckpointRecord*)at;
    at += MAXALIGN(walsizer::kCheckpointCapacity * sizeof(walsizer::CheckpointRecord));
    auto* buckets = (walsizer::WalBucket*)at;
    return {{decisions, walsizer::kDecisionCapacity, &shared->written[0]},
            {windows, shared->window_capacity, &shared->written[1]},
            {checkpoints, walsizer::kCheckpointCapacity, &shared->written[2]},
            shared->totals,
            {buckets, walsizer::kBucketCapacity, &shared->written[3]}};
}
