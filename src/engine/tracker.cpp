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

// What was reset within the window is not known.
std::int64_t Step(std::int64_t from, std::int64_t to) noexcept {
    return to >= from ? to - from : -1;
}

void FillStatistics(const WalStatistics& now, const WalStatistics& from, WindowRecord& window) noexcept {
    window.fpi_bytes = window.stat_bytes = -1;
    if (!now.known || !from.known || now.bytes < from.bytes || now.fpi_bytes < from.fpi_bytes) return;
    window.stat_bytes = now.bytes - from.bytes;
    window.fpi_bytes = std::min(now.fpi_bytes - from.fpi_bytes, window.wal_bytes);
}

void FillBuffers(const BufferCounters& now, const BufferCounters& from, WindowRecord& window) noexcept {
    if (!now.known || !from.known) return;
    window.clean = Step(from.clean, now.clean);
    window.maxwritten = Step(from.maxwritten, now.maxwritten);
    window.backend = Step(from.backend, now.backend);
    window.backend_fsync = Step(from.backend_fsync, now.backend_fsync);
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
    RememberStatistics(seen);
    events.cycle = cycles_.Look(seen, journal.checkpoints);
    pace_.Look(seen);
    demand_.Look(seen.now, seen.position, seen.server.checkpoint_timeout);
    const CheckpointCounts& settled = events.cycle.settled;
    recorder_.Look(seen, settled.requested - settled.wal_forced - settled.stale, journal.buckets);
    if (!started_ || other_history) {
        OpenWindow(seen.now);
        started_ = true;
    }
    window_.checkpoints.Add(events.cycle.settled);
    window_.completed += events.cycle.completed;
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

void Tracker::RememberStatistics(const Observation& seen) noexcept {
    if (seen.wal.known) wal_ = seen.wal;
    if (seen.buffers.known) buffers_ = seen.buffers;
}

WindowRecord Tracker::Fill(Micros end) const noexcept {
    const Observation& from = window_start_;
    WindowRecord window = window_;
    window.end = latest_.wall - (latest_.now - end);
    window.length = end - window_from_;
    window.wal_bytes =
        latest_.position > from.position ? static_cast<Bytes>(latest_.position - from.position) : 0;
    window.max_wal_size = latest_.server.max_wal_size;
    FillStatistics(wal_, from.wal, window);
    FillBuffers(buffers_, from.buffers, window);
    if (from.next_xid >= 0 && latest_.next_xid >= from.next_xid)
        window.xids = latest_.next_xid - from.next_xid;
    const CheckpointCounters& now = cycles_.memory().counters;
    if (now.known && from.counters.known && now.reset_at == from.counters.reset_at) {
        window.write_time = std::max(now.write_time - from.counters.write_time, 0.0);
        window.sync_time = std::max(now.sync_time - from.counters.sync_time, 0.0);
        window.buffers_written =
            std::max<std::int64_t>(now.buffers_written - from.counters.buffers_written, 0);
    } else {
        window.completed = -1;
    }
    return window;
}

void Tracker::OpenWindow(Micros start) noexcept {
    window_ = WindowRecord();
    window_.start = latest_.wall - (latest_.now - start);
    window_.in_recovery = latest_.in_recovery;
    window_.completed = 0;
    window_.max_wal_size = latest_.server.max_wal_size;
    window_from_ = start;
    window_.timeout = window_length_ = latest_.server.checkpoint_timeout;
    window_start_ = latest_;
    window_start_.wal = wal_;
    window_start_.buffers = buffers_;
    window_start_.counters = cycles_.memory().counters;
}

void Tracker::CloseWindow(Journal& journal) noexcept {
    if (!started_) return;
    // Windows follow each other without drift or gap, unless the observer was away for more than a look.
    const Micros due = window_from_ + window_length_;
    const bool on_time = latest_.now >= due && latest_.now - due < 2 * kSecond;
    const Micros end = on_time ? due : latest_.now;
    journal.windows.Push(Fill(end));
    OpenWindow(end);
}

}  // namespace walsizer
