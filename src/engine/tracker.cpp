#include "walsizer/tracker.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// Statistics that cover less than this share of a cycle's WAL miss a running statement.
constexpr double kCoverage = 0.8;

FpiOfCycle ShareOf(bool known, Bytes stat_bytes, Bytes fpi_bytes, Bytes wal_bytes) noexcept {
    if (!known || stat_bytes <= 0 || fpi_bytes < 0) return {};
    if (static_cast<double>(stat_bytes) < kCoverage * static_cast<double>(wal_bytes)) return {};
    return {true, std::min(static_cast<double>(fpi_bytes) / static_cast<double>(stat_bytes), 0.95)};
}

}  // namespace

FpiOfCycle Tracker::OpenCycleFpi() const noexcept {
    const Cycle& cycle = cycles_.open();
    return ShareOf(latest_.wal.known && cycle.at_start.known, latest_.wal.bytes - cycle.at_start.bytes,
                   latest_.wal.fpi_bytes - cycle.at_start.fpi_bytes,
                   static_cast<Bytes>(latest_.position - cycle.redo));
}

FpiOfCycle Tracker::LastForcedCycleFpi() const noexcept {
    const FinishedCycle& cycle = cycles_.last_forced();
    return ShareOf(cycle.stat_known, cycle.stat_bytes, cycle.fpi_bytes, cycle.wal_bytes);
}

Timestamp Tracker::open_window_due() const noexcept {
    return window_.start + window_length_;
}

TrackerEvents Tracker::Look(const Observation& seen, Journal& journal) noexcept {
    TrackerEvents events;
    // Positions of another history (promotion, a restored copy) must not be subtracted from each other.
    const bool other_history =
        started_ && (seen.in_recovery != latest_.in_recovery || seen.position < latest_.position);
    if (other_history) {
        pace_.Restart();
        demand_.Restart();
        CloseWindow(journal);
    }
    if (started_ && !other_history)
        journal.totals.wal_bytes += static_cast<Bytes>(seen.position - latest_.position);
    // What a standby replays to catch up was written over hours: no rate, no demand.
    if (seen.in_recovery && !seen.replay_current) {
        pace_.Restart();
        demand_.Restart();
    }
    latest_ = seen;
    events.cycle = cycles_.Look(seen, journal.checkpoints);
    pace_.Look(seen);
    demand_.Look(seen.now, seen.position, seen.server.checkpoint_timeout);
    if (!started_ || other_history) {
        window_start_ = seen;
        OpenWindow(seen.now);
        started_ = true;
    }
    window_.checkpoints.Add(events.cycle.settled);
    journal.totals.checkpoints.Add(events.cycle.settled);

    const Stretch stretch = demand_.Latest(seen.server.checkpoint_timeout);
    if (stretch.complete) {
        const auto bytes = static_cast<Bytes>(stretch.bytes);
        window_.peak = std::max(window_.peak, bytes);
        if (stretch.clean) window_.clean_peak = std::max(window_.clean_peak, bytes);
    }
    // After the stretch that ends here was measured: it ends with the cycle, and is as clean as before.
    if (events.cycle.cut_short) demand_.CycleCutShort(seen.now);

    if (seen.now - window_from_ >= window_length_) {
        events.window_saw_wal = seen.position > window_start_.position;
        events.window_closed = true;
        CloseWindow(journal);
    }
    return events;
}

void Tracker::FillWindow(Micros end) noexcept {
    const Observation& from = window_start_;
    window_.end = latest_.wall - (latest_.now - end);
    window_.length = end - window_from_;
    window_.wal_bytes =
        latest_.position > from.position ? static_cast<Bytes>(latest_.position - from.position) : 0;
    const bool statistics = latest_.wal.known && from.wal.known && latest_.wal.bytes >= from.wal.bytes &&
                            latest_.wal.fpi_bytes >= from.wal.fpi_bytes;
    window_.fpi_bytes =
        statistics ? std::min(latest_.wal.fpi_bytes - from.wal.fpi_bytes, window_.wal_bytes) : Bytes{-1};
    window_.max_wal_size = latest_.server.max_wal_size;
    const CheckpointCounters& now = cycles_.memory().counters;
    if (now.known && from.counters.known && now.reset_at == from.counters.reset_at) {
        window_.write_time = std::max(now.write_time - from.counters.write_time, 0.0);
        window_.sync_time = std::max(now.sync_time - from.counters.sync_time, 0.0);
        window_.buffers_written =
            std::max<std::int64_t>(now.buffers_written - from.counters.buffers_written, 0);
    }
}

void Tracker::OpenWindow(Micros start) noexcept {
    window_ = WindowRecord();
    window_.start = latest_.wall - (latest_.now - start);
    window_.in_recovery = latest_.in_recovery;
    window_.max_wal_size = latest_.server.max_wal_size;
    window_from_ = start;
    window_length_ = latest_.server.checkpoint_timeout;
    window_start_ = latest_;
    window_start_.counters = cycles_.memory().counters;
}

void Tracker::CloseWindow(Journal& journal) noexcept {
    if (!started_) return;
    // Windows follow each other without drift or gap, unless the observer was away for more than a look.
    const Micros due = window_from_ + window_length_;
    const bool on_time = latest_.now >= due && latest_.now - due < 2 * kSecond;
    const Micros end = on_time ? due : latest_.now;
    FillWindow(end);
    journal.windows.Push(window_);
    OpenWindow(end);
}

}  // namespace walsizer
