// walsizer.decisions, walsizer.windows, walsizer.checkpoints: the journal's rings as rows, newest first.
#include "sql_journal.hpp"

#include "module.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_decisions);
PG_FUNCTION_INFO_V1(walsizer_windows);
PG_FUNCTION_INFO_V1(walsizer_checkpoints);
}

// Copies a ring out of shared memory, newest first, so that rows are built without the lock.
template <typename Record>
static Record* walsizer_copy_ring(walsizer::Ring<Record> walsizer::Journal::*ring, uint32* count) {
    const uint32 capacity = (walsizer_journal().*ring).capacity();
    Record* copy = (Record*)palloc(sizeof(Record) * Max(capacity, 1));
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Journal journal = walsizer_journal();
    const walsizer::Ring<Record>& from = journal.*ring;
    *count = walsizer_shared->loaded ? from.size() : 0;
    for (uint32 age = 0; age < *count; age++) memcpy((void*)&copy[age], &from.Newest(age), sizeof(Record));
    LWLockRelease(walsizer_shared->lock);
    return copy;
}

void walsizer_fill_decision(WalsizerRow* row, const walsizer::DecisionRecord& decision) {
    row->used = 0;
    walsizer_add_int64(row, decision.id);
    walsizer_add_time(row, decision.decided_at);
    walsizer_add_text(row, walsizer::Name(decision.action));
    walsizer_add_text(row, walsizer::Name(decision.cause));
    walsizer_add_bytes(row, decision.old_size);
    walsizer_add_bytes(row, decision.new_size);
    walsizer_add_bytes(row, decision.wanted_size);
    walsizer_add_bytes(row, decision.ceiling);
    walsizer_add_text(row, walsizer::Name(decision.limited_by));
    walsizer_add_int64(row, decision.checkpoints.timed);
    walsizer_add_int64(row, decision.checkpoints.requested);
    walsizer_add_int64(row, decision.checkpoints.wal_forced);
    walsizer_add_bytes(row, decision.wal_bytes);
    walsizer_add_float(row, decision.wal_rate);
    walsizer_add_bool(row, decision.outcome == walsizer::Outcome::kEffective);
    walsizer_add_text(row, walsizer::Name(decision.outcome));
    walsizer_add_text(row, decision.reason.c_str());
}

Datum walsizer_decisions(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    uint32 count = 0;
    const walsizer::DecisionRecord* decisions = walsizer_copy_ring(&walsizer::Journal::decisions, &count);
    for (uint32 i = 0; i < count; i++) {
        WalsizerRow row;
        walsizer_fill_decision(&row, decisions[i]);
        walsizer_put_row(&set, &row);
    }
    return (Datum)0;
}

Datum walsizer_windows(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    uint32 count = 0;
    const walsizer::WindowRecord* windows = walsizer_copy_ring(&walsizer::Journal::windows, &count);
    for (uint32 i = 0; i < count; i++) {
        const walsizer::WindowRecord& window = windows[i];
        WalsizerRow row;
        row.used = 0;
        walsizer_add_time(&row, window.start);
        walsizer_add_time(&row, window.end);
        walsizer_add_bool(&row, window.in_recovery);
        walsizer_add_int64(&row, window.checkpoints.timed);
        walsizer_add_int64(&row, window.checkpoints.requested);
        walsizer_add_int64(&row, window.checkpoints.wal_forced);
        walsizer_add_int64(&row, window.checkpoints.stale);
        walsizer_add_ratio(&row, window.checkpoints.requested, window.checkpoints.effective());
        walsizer_add_ratio(&row, window.checkpoints.wal_forced, window.checkpoints.effective());
        walsizer_add_bytes(&row, window.wal_bytes);
        walsizer_add_bytes(&row, window.fpi_bytes);
        walsizer_add_bytes(&row, window.max_wal_size);
        walsizer_add_float(&row, window.write_time);
        walsizer_add_float(&row, window.sync_time);
        walsizer_add_int64(&row, window.buffers_written);
        walsizer_add_bytes(&row, window.xids);
        walsizer_put_row(&set, &row);
    }
    return (Datum)0;
}

Datum walsizer_checkpoints(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    uint32 count = 0;
    const walsizer::CheckpointRecord* checkpoints =
        walsizer_copy_ring(&walsizer::Journal::checkpoints, &count);
    for (uint32 i = 0; i < count; i++) {
        const walsizer::CheckpointRecord& checkpoint = checkpoints[i];
        WalsizerRow row;
        row.used = 0;
        walsizer_add_time(&row, checkpoint.started_at);
        walsizer_add_lsn(&row, checkpoint.redo);
        walsizer_add_text(&row, walsizer::Name(checkpoint.cause));
        walsizer_add_int64(&row, checkpoint.count);
        walsizer_add_bytes(&row, checkpoint.wal_bytes);
        walsizer_add_interval(&row, checkpoint.cycle_time);
        walsizer_add_bytes(&row, checkpoint.trigger_size);
        walsizer_add_bytes(&row, checkpoint.max_wal_size);
        walsizer_put_row(&set, &row);
    }
    return (Datum)0;
}
