#include "walsizer/cycles.hpp"

#include <algorithm>
#include <utility>

namespace walsizer {

namespace {

// PostgreSQL's timer counts whole seconds and the redo point is seen a look late: nearer to the timeout than
// this, a checkpoint may have been the timer's.
constexpr Micros kTimerSlack = 2 * kSecond;
// A cycle shorter than this share of the timeout inflates its WAL with repeated full-page images.
constexpr double kWholeCycle = 0.8;
// More checkpoints between two looks are not believed.
constexpr std::int64_t kMostSteps = 100000;

}  // namespace

Micros CycleTracker::TimerLeft(Micros timer_from, Micros now, Micros timeout) noexcept {
    Micros since = std::max<Micros>(now - timer_from, 0);
    // Long overdue means skipped: an idle server restarts its timer without a checkpoint.
    if (since > timeout + kTimerSlack) since %= timeout;
    return std::max<Micros>(timeout - since, 0);
}

CycleTracker::CounterSteps CycleTracker::StepCounters(const Observation& seen) noexcept {
    CounterSteps steps;
    if (seen.in_recovery) memory_.counters.known = false;  // noise; promotion begins with a new baseline
    if (!seen.counters.known || seen.in_recovery) return steps;
    const CheckpointCounters& before = memory_.counters;
    const bool continuous = before.known && before.reset_at == seen.counters.reset_at &&
                            seen.counters.timed >= before.timed &&
                            seen.counters.requested >= before.requested;
    if (continuous) {
        steps.timed = std::min(seen.counters.timed - before.timed, kMostSteps);
        steps.requested = std::min(seen.counters.requested - before.requested, kMostSteps);
        steps.writing = std::max(seen.counters.write_time - before.write_time, 0.0) +
                        std::max(seen.counters.sync_time - before.sync_time, 0.0);
    } else {
        // Reset, or lost in a crash: a new baseline. The redo point still shows every checkpoint.
        owed_requested_ = owed_timed_ = 0;
    }
    memory_.counters = seen.counters;
    return steps;
}

void CycleTracker::OpenCycle(const Observation& seen, Micros started_at, Bytes older_trigger) noexcept {
    cycle_.redo = seen.redo;
    cycle_.started_at = cycle_.timer_from = started_at;
    cycle_.smallest_segments = present_segments_;
    cycle_.smallest_trigger = present_trigger_;
    cycle_.at_start = seen.wal;
    cycle_.older_trigger = older_trigger;
    cycle_.completed = false;
    memory_.redo = seen.redo;
}

void CycleTracker::Settle(CheckpointRecord row, CheckpointCause cause, std::int64_t count,
                          Ring<CheckpointRecord>& rows, CycleEvents& events) noexcept {
    row.cause = cause;
    row.count = static_cast<std::int32_t>(count);
    rows.Push(row);
    events.settled.Add(cause, count);
}

void CycleTracker::SettleOpenRow(bool requested, const Observation& seen, Ring<CheckpointRecord>& rows,
                                 CycleEvents& events) noexcept {
    const CheckpointCause cause = requested
                                      ? RequestedCause(open_row_from_, open_row_.redo, open_row_segments_, 1,
                                                       seen.server.segment_size, seen.now)
                                      : CheckpointCause::kTime;
    Settle(open_row_, cause, 1, rows, events);
    if (cause == CheckpointCause::kWal) {
        last_forced_ = open_row_cycle_;
        events.forced_at_present |=
            ReachedTrigger(open_row_from_, open_row_.redo, present_segments_, seen.server.segment_size);
    }
    has_open_row_ = false;
}

// What the counters show first belongs to checkpoints already known from their redo points.
void CycleTracker::PayDebts(CounterSteps& steps, const Observation& seen, Ring<CheckpointRecord>& rows,
                            CycleEvents& events) noexcept {
    const auto pay = [](std::int64_t& owed, std::int64_t& step) {
        const std::int64_t paid = std::min(owed, step);
        owed -= paid;
        step -= paid;
    };
    pay(owed_timed_, steps.timed);
    pay(owed_requested_, steps.requested);
    if (!has_open_row_ || (steps.timed == 0 && steps.requested == 0)) return;
    const bool requested = steps.timed == 0;
    --(requested ? steps.requested : steps.timed);
    SettleOpenRow(requested, seen, rows, events);
}

CycleEvents CycleTracker::Look(const Observation& seen, Ring<CheckpointRecord>& rows) noexcept {
    CycleEvents events;
    NoteTrigger(seen);
    CounterSteps steps = StepCounters(seen);
    const double gap = static_cast<double>(seen.now - std::exchange(last_look_, seen.now)) / kMillisecond;
    events.completed = steps.writing > 0;
    if (!started_) {
        Begin(seen, steps, rows, events);
        return events;
    }
    // After a promotion, or a restart that the observer survived, the next move is nobody's WAL pressure.
    if (seen.in_recovery != in_recovery_ || seen.server_start != server_start_) {
        in_recovery_ = seen.in_recovery;
        server_start_ = seen.server_start;
        first_move_ = true;
        owed_requested_ = owed_timed_ = 0;
    }
    PayDebts(steps, seen, rows, events);
    if (seen.redo != cycle_.redo)
        Move(seen, steps, rows, events);
    else
        StandStill(seen, steps, rows, events);
    // What took longer than the new cycle lasts so far was the checkpoint before.
    cycle_.completed |= events.completed && (!events.redo_moved || steps.writing <= gap);
    FollowUncut(seen);
    return events;
}

// The first look: whatever moved the redo point since the history was written was a shutdown, a recovery or a
// request that nobody watched, never WAL pressure.
void CycleTracker::Begin(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
                         CycleEvents& events) noexcept {
    started_ = true;
    in_recovery_ = first_move_ = seen.in_recovery;
    server_start_ = seen.server_start;
    CheckpointRecord row;
    row.started_at = seen.redo_age >= 0 ? seen.wall - seen.redo_age : seen.wall;
    row.redo = seen.redo;
    row.trigger_size = present_trigger_;
    row.max_wal_size = seen.server.max_wal_size;
    const bool moved = memory_.redo != 0 && seen.redo > memory_.redo;
    if (moved) row.wal_bytes = static_cast<Bytes>(seen.redo - memory_.redo);
    if (moved && steps.timed > 0) Settle(row, CheckpointCause::kTime, steps.timed, rows, events);
    if (moved && (steps.requested > 0 || steps.timed == 0))
        Settle(row, CheckpointCause::kRequest, std::max<std::int64_t>(steps.requested, 1), rows, events);
    OpenCycle(seen, seen.now - std::max<Micros>(seen.redo_age, 0), 0);
}

void CycleTracker::Move(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
                        CycleEvents& events) noexcept {
    if (has_open_row_) {  // no counter spoke in a whole cycle
        SettleOpenRow(false, seen, rows, events);
        ++owed_timed_;
    }
    const Micros timeout = seen.server.checkpoint_timeout;
    CheckpointRecord row;
    row.started_at = seen.wall;
    row.redo = seen.redo;
    row.wal_bytes = seen.redo > cycle_.redo ? static_cast<Bytes>(seen.redo - cycle_.redo) : 0;
    row.cycle_time = seen.now - cycle_.started_at;
    row.trigger_size = cycle_.smallest_trigger;
    row.max_wal_size = seen.server.max_wal_size;

    const bool due = seen.now - cycle_.timer_from >= timeout - kTimerSlack;
    const bool counters_say_time = steps.timed > 0 && steps.requested == 0;
    const bool counters_say_requested = steps.requested > 0 && steps.timed == 0;
    const std::int64_t count = std::max<std::int64_t>(steps.requested, 1);
    const FinishedCycle finished = {row.wal_bytes,
                                    row.cycle_time,
                                    seen.wal.bytes - cycle_.at_start.bytes,
                                    seen.wal.fpi_bytes - cycle_.at_start.fpi_bytes,
                                    seen.wal.known && cycle_.at_start.known,
                                    count};
    Bytes older_trigger = 0;
    events.redo_moved = true;
    events.cut_short = static_cast<double>(row.cycle_time) < kWholeCycle * static_cast<double>(timeout);

    if (first_move_) {
        Settle(row, CheckpointCause::kRequest, count, rows, events);
        owed_requested_ += seen.in_recovery ? 0 : count - steps.requested;
        first_move_ = false;
    } else if (seen.in_recovery) {
        const bool reached =
            ReachedTrigger(cycle_.redo, seen.redo, cycle_.smallest_segments, seen.server.segment_size);
        Settle(row,
               reached ? CheckpointCause::kWal
               : due   ? CheckpointCause::kTime
                       : CheckpointCause::kRequest,
               1, rows, events);
    } else if (counters_say_time) {
        Settle(row, CheckpointCause::kTime, 1, rows, events);
    } else if (!due || counters_say_requested) {
        const CheckpointCause cause = RequestedCause(cycle_.redo, seen.redo, cycle_.smallest_segments, count,
                                                     seen.server.segment_size, seen.now);
        Settle(row, cause, count, rows, events);
        older_trigger = OlderTrigger(cause, seen.redo, seen.server.segment_size);
        if (cause == CheckpointCause::kWal) {
            last_forced_ = finished;
            events.forced_at_present |=
                ReachedTrigger(cycle_.redo, seen.redo, present_segments_ * count, seen.server.segment_size);
        }
        owed_requested_ += count - steps.requested;
    } else if (steps.timed > 0) {  // both spoke: one was the timer's, the others came on request
        Settle(row, CheckpointCause::kTime, 1, rows, events);
        row.wal_bytes = 0;
        Settle(row, CheckpointCause::kRequest, steps.requested, rows, events);
    } else {
        open_row_ = row;
        open_row_cycle_ = finished;
        open_row_from_ = cycle_.redo;
        open_row_segments_ = cycle_.smallest_segments;
        has_open_row_ = true;
    }
    OpenCycle(seen, seen.now, older_trigger);
}

void CycleTracker::StandStill(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
                              CycleEvents& events) noexcept {
    // The timer ticked on an idle server: no checkpoint, but PostgreSQL's timer starts anew.
    if (steps.timed > 0) cycle_.timer_from = seen.now;
    if (steps.requested == 0 || rows.size() == 0) return;
    // More checkpoints came between two looks than the one redo move showed.
    CheckpointRecord& newest = rows.Newest(0);
    const bool same_cause = newest.redo == cycle_.redo && newest.cause != CheckpointCause::kTime &&
                            (newest.cause != CheckpointCause::kWal ||
                             newest.wal_bytes / (newest.count + steps.requested) >= newest.trigger_size);
    if (same_cause) {
        newest.count += static_cast<std::int32_t>(steps.requested);
        events.settled.Add(newest.cause, steps.requested);
        return;
    }
    CheckpointRecord row = newest;
    row.wal_bytes = 0;
    row.cycle_time = -1;
    Settle(row, CheckpointCause::kRequest, steps.requested, rows, events);
}

}  // namespace walsizer
