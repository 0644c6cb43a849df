#include "observe.hpp"

#include <time.h>

#include "shared_state.hpp"
#include "wal_volume.hpp"

walsizer::Micros walsizer_monotonic_clock() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (walsizer::Micros)now.tv_sec * walsizer::kSecond + now.tv_nsec / 1000;
}

// How long PostgreSQL's timer has been running for the present redo point, from the checkpoint's start in the
// control file; unknown while a newer one runs.
static walsizer::Micros walsizer_redo_age(walsizer::Lsn redo) {
    bool crc_ok = false;
    walsizer::Micros age = -1;
    ControlFileData* control = get_controlfile(DataDir, &crc_ok);
    if (crc_ok && control->checkPointCopy.redo == redo) {
        const pg_time_t seconds = (pg_time_t)time(NULL) - control->checkPointCopy.time;
        // The wall clock may have been set since: an age out of all bounds is none.
        if (seconds >= 0 && seconds <= 86400) age = seconds * walsizer::kSecond;
    }
    pfree(control);
    // The checkpointer's timer begins when it starts, however old the last checkpoint is.
    const walsizer::Micros up = walsizer_monotonic_clock() - walsizer_shared->recovery_start.at;
    return age < 0 ? age : Min(age, up);
}

static bool walsizer_statistics_are_due(const walsizer::Observation& seen) {
    if (walsizer_statistics_are_cheap) return true;
    // Late enough for the collector to have them, and again when a paced checkpoint has told the timer from a
    // request.
    static const walsizer::Micros delays[] = {0, walsizer::kSecond, 5 * walsizer::kSecond};
    static walsizer::Lsn last_redo = 0;
    static walsizer::Micros moved_at = 0;
    static unsigned reads = 0;
    if (seen.redo != last_redo) {
        last_redo = seen.redo;
        moved_at = seen.now;
        reads = 0;
    }
    const walsizer::Micros since = seen.now - moved_at;
    const unsigned early = sizeof(delays) / sizeof(delays[0]);
    // After that once a timeout, for the windows' figures and for ticks that an idle server skipped.
    const bool due = reads < early
                         ? since >= delays[reads]
                         : since >= (walsizer::Micros)(reads - early + 1) * seen.server.checkpoint_timeout;
    if (due) ++reads;
    return due;
}

// Replay keeps up when the last commit it replayed is fresh, or nothing received is left to replay (an idle
// primary).
static bool walsizer_replay_is_current(walsizer::Lsn replayed, TimestampTz now) {
    constexpr int fresh_ms = 5000;
    const XLogRecPtr received = GetWalRcvFlushRecPtr(NULL, NULL);
    if (received != InvalidXLogRecPtr && replayed >= received) return true;
    const TimestampTz last_commit = GetLatestXTime();
    return last_commit != 0 && !TimestampDifferenceExceeds(last_commit, now, fresh_ms);
}

walsizer::Observation walsizer_observe(bool first) {
    walsizer::Observation seen;
    seen.now = walsizer_monotonic_clock();
    seen.wall = GetCurrentTimestamp();
    seen.server_start = PgStartTime;
    seen.in_recovery = RecoveryInProgress();
    // The redo point first: it never lies beyond a position read after it.
    seen.redo = GetRedoRecPtr();
    seen.position = seen.in_recovery ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
    seen.server.max_wal_size = max_wal_size_mb * walsizer::kMiB;
    seen.server.segment_size = wal_segment_size;
    seen.server.completion_target = CheckPointCompletionTarget;
    seen.server.checkpoint_timeout = CheckPointTimeout * walsizer::kSecond;
    seen.next_xid = (int64)U64FromFullTransactionId(ReadNextFullTransactionId());
    if (first) seen.redo_age = walsizer_redo_age(seen.redo);
    if (seen.in_recovery) seen.replay_current = walsizer_replay_is_current(seen.position, seen.wall);
    seen.volume = walsizer_read_volume();
    if (walsizer_statistics_are_due(seen)) {
        pgstat_clear_snapshot();
        walsizer_read_counters(&seen.counters);
        walsizer_read_wal_statistics(&seen.wal);
        walsizer_read_buffer_counters(&seen.buffers);
    }
    return seen;
}
