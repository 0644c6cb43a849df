// walsizer.status and walsizer.stat.
#include "apply.hpp"
#include "module.hpp"
#include "rows.hpp"
#include "shared_state.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_status);
PG_FUNCTION_INFO_V1(walsizer_stat);
}

// Everything status shows, taken under the lock at one moment.
struct StatusSnapshot {
    pid_t worker_pid;
    TimestampTz sampled_at;
    const char* state;
    TimestampTz state_since;
    walsizer::Reason reason;
    bool started;
    walsizer::Observation seen;
    walsizer::Original original;
    walsizer::Need need;
    walsizer::Bytes recommended;
    walsizer::Ceiling ceiling;
    walsizer::Race race;
    double wal_rate;
    walsizer::LimitFacts limits;
    walsizer::RecoverySamples recoveries;
    walsizer::WindowRecord window;
    TimestampTz window_due;
    walsizer::CheckpointCounts recent;
    int64 decisions;
    TimestampTz last_decision;
    walsizer::Text<256> last_error;
};

static void walsizer_take_snapshot(StatusSnapshot* status) {
    const WalsizerShared* shared = walsizer_shared;
    LWLockAcquire(shared->lock, LW_SHARED);
    const walsizer::Tuner& tuner = shared->tuner;
    const walsizer::Tracker& tracker = tuner.tracker();
    const walsizer::Journal journal = walsizer_journal();
    status->worker_pid = shared->worker_pid;
    status->sampled_at = shared->sampled_at;
    status->state = shared->worker_pid == 0 ? "not_running" : walsizer::Name(tuner.state());
    status->started = shared->loaded && tracker.started();
    if (status->started) {
        status->state_since = tuner.state_since();
        status->reason = tuner.StateReason(journal);
        status->seen = tracker.latest();
        status->original = tuner.original();
        status->need = tuner.need(journal);
        status->recommended = tuner.Recommended(journal);
        status->ceiling = tuner.ceiling();
        status->race = tuner.race();
        status->limits = tuner.limit_facts();
        status->recoveries = tuner.recoveries();
        status->wal_rate = tracker.pace().steady;
        status->window = tracker.open_window();
        status->window_due = tracker.open_window_due();
        status->recent = walsizer::RecentCheckpoints(journal, walsizer::kRecentWindows);
        status->recent.Add(tracker.open_window().checkpoints);
        status->decisions = journal.totals.decisions;
        if (journal.decisions.size() > 0) status->last_decision = journal.decisions.Newest(0).decided_at;
        status->last_error = tuner.memory().last_error;
    }
    LWLockRelease(shared->lock);
}

static void walsizer_add_limits(WalsizerRow* row, const StatusSnapshot& status) {
    const walsizer::RecoveryModel& recovery = status.limits.recovery;
    const walsizer::VolumeFacts& volume = status.limits.volume;
    const walsizer::RecoverySample& last = status.recoveries.samples[0];
    const bool recovered = status.recoveries.count > 0;
    walsizer_add_interval(row, recovery.Estimate(status.limits.present_size));
    walsizer_add_float(row, recovery.rate);
    walsizer_add_text(row, walsizer::Name(recovery.source));
    walsizer_add_interval(row, recovered ? last.time : -1);
    walsizer_add_bytes(row, recovered ? last.bytes : -1);
    walsizer_add_bytes(row, volume.known ? volume.size : -1);
    walsizer_add_bytes(row, volume.known ? volume.free : -1);
    walsizer_add_bytes(row, volume.known ? walsizer::DiskReserve(status.limits.settings, volume) : -1);
    walsizer_add_bytes(row, volume.known ? volume.wal_dir_size : -1);
    walsizer_add_bytes(row, volume.known ? volume.held.bytes : -1);
    walsizer_add_text(row, volume.held.name.c_str());
}

static void walsizer_fill_status(WalsizerRow* row, const StatusSnapshot& status) {
    const walsizer::ServerSettings& server = status.seen.server;
    char source[MAXPGPATH + 32];
    walsizer_describe_source(source, sizeof(source));
    if (status.worker_pid == 0)
        walsizer_add_null(row);
    else
        walsizer_add_int32(row, status.worker_pid);
    walsizer_add_time(row, status.sampled_at);
    walsizer_add_bool(row, status.seen.in_recovery);
    walsizer_add_bytes(row, server.max_wal_size);
    walsizer_add_text(row, source);
    walsizer_add_bytes(row, status.original.known ? status.original.size : -1);
    walsizer_add_bytes(row, status.need.size);
    walsizer_add_bytes(row, status.recommended);
    walsizer_add_bytes(row, status.ceiling.size);
    walsizer_add_text(row, walsizer::Name(status.ceiling.governs));
    walsizer_add_bytes(row, walsizer::TriggerSize(status.race.size, server));
    walsizer_add_bytes(row, status.race.wal_bytes);
    walsizer_add_float(row, status.wal_rate);
    walsizer_add_time(row, status.window.start);
    walsizer_add_time(row, status.window_due);
    walsizer_add_int64(row, status.window.checkpoints.timed);
    walsizer_add_int64(row, status.window.checkpoints.requested);
    walsizer_add_int64(row, status.window.checkpoints.wal_forced);
    walsizer_add_int64(row, status.window.checkpoints.stale);
    walsizer_add_ratio(row, status.recent.requested, status.recent.effective());
    walsizer_add_ratio(row, status.recent.wal_forced, status.recent.effective());
    walsizer_add_limits(row, status);
    walsizer_add_int64(row, status.decisions);
    walsizer_add_time(row, status.last_decision);
    walsizer_add_text(row, status.last_error.c_str());
    walsizer_add_text(row, WALSIZER_VERSION);
}

// Columns between reason and version, when there is nothing to tell.
static void walsizer_fill_unknown(WalsizerRow* row, int last_columns) {
    for (int i = 0; i < last_columns - 1; i++) walsizer_add_null(row);
    walsizer_add_text(row, WALSIZER_VERSION);
}

Datum walsizer_status(PG_FUNCTION_ARGS) {
    static constexpr int columns_after_reason = 36;
    WalsizerRow row;
    row.used = 0;
    if (walsizer_inactive_reason != NULL) {
        walsizer_add_text(&row, "inactive");
        walsizer_add_null(&row);
        walsizer_add_text(&row, walsizer_inactive_reason);
        walsizer_fill_unknown(&row, columns_after_reason);
        PG_RETURN_DATUM(walsizer_one_row(fcinfo, &row));
    }
    walsizer_require_active();
    StatusSnapshot* status = (StatusSnapshot*)palloc0(sizeof(StatusSnapshot));
    walsizer_take_snapshot(status);
    walsizer_add_text(&row, status->state);
    walsizer_add_time(&row, status->state_since);
    if (status->worker_pid == 0)
        walsizer_add_text(&row, "the background worker is not running; the server log tells why");
    else
        walsizer_add_text(&row, status->started ? status->reason.c_str() : "the first look is still to come");
    if (status->started)
        walsizer_fill_status(&row, *status);
    else
        walsizer_fill_unknown(&row, columns_after_reason);
    PG_RETURN_DATUM(walsizer_one_row(fcinfo, &row));
}

Datum walsizer_stat(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Totals totals = walsizer_shared->totals;
    LWLockRelease(walsizer_shared->lock);
    WalsizerRow row;
    row.used = 0;
    walsizer_add_int64(&row, totals.checkpoints.timed);
    walsizer_add_int64(&row, totals.checkpoints.requested);
    walsizer_add_int64(&row, totals.checkpoints.wal_forced);
    walsizer_add_int64(&row, totals.checkpoints.stale);
    walsizer_add_bytes(&row, totals.wal_bytes);
    walsizer_add_int64(&row, totals.raised);
    walsizer_add_int64(&row, totals.lowered);
    walsizer_add_int64(&row, totals.failed);
    walsizer_add_time(&row, totals.stats_reset);
    PG_RETURN_DATUM(walsizer_one_row(fcinfo, &row));
}
