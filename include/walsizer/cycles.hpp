// Cycles (from one redo point to the next) and the cause of the checkpoint that ends each.
//
// The cause comes from PostgreSQL's own rule (postgres_rules.hpp: ReachedTrigger) and from the time since the
// last checkpoint; the server's counters confirm it, correct the number of checkpoints between two looks, and
// settle the few cases where the timer and WAL volume were due together. Counters become visible late, so
// such a case may stay open for some looks. On a standby counters are noise and are not read at all.
#pragma once

#include "walsizer/journal.hpp"
#include "walsizer/observation.hpp"

namespace walsizer {

struct CycleStart {
    Lsn redo = 0;
    Micros started_at = 0;  // when the redo point moved here, as far as known
    Micros timer_from = 0;  // when PostgreSQL's timer last began: redo moved, or an idle tick was skipped
};

struct Cycle : CycleStart {
    std::int64_t smallest_segments = 0;  // the smallest trigger in effect since then
    Bytes smallest_trigger = 0;          // the same in bytes
    // The checkpoint that began this cycle was forced at an older trigger, this one in bytes, by a statement
    // that has not heard of the present one; 0: it was not.
    Bytes older_trigger = 0;
    bool completed = false;  // the checkpoint that began this cycle is written
    // Where the cycle would have begun without such checkpoints; where it did begin without one.
    CycleStart uncut;
    WalStatistics at_start;
};

// A cycle that WAL volume ended.
struct FinishedCycle {
    Bytes wal_bytes = 0;
    Micros elapsed = -1;
    Bytes stat_bytes = 0;
    Bytes fpi_bytes = 0;
    bool stat_known = false;
    std::int64_t count = 0;
};

struct CycleEvents {
    CheckpointCounts settled;  // counted at this look
    // One of the forced ones reached even the trigger that is in effect now: evidence against the present
    // setting. A cycle in which max_wal_size was raised may have been forced by the old one.
    bool forced_at_present = false;
    bool redo_moved = false;
    bool cut_short = false;  // the cycle that ended was much shorter than checkpoint_timeout
    bool completed = false;  // a checkpoint was completed; several between two looks show as one
};

// What must survive a restart to account for the checkpoints that came meanwhile.
struct CycleMemory {
    Lsn redo = 0;  // 0: nothing remembered
    CheckpointCounters counters;
};

class CycleTracker {
  public:
    void Remember(const CycleMemory& memory) noexcept { memory_ = memory; }
    const CycleMemory& memory() const noexcept { return memory_; }

    CycleEvents Look(const Observation& seen, Ring<CheckpointRecord>& rows) noexcept;

    const Cycle& open() const noexcept { return cycle_; }
    const FinishedCycle& last_forced() const noexcept { return last_forced_; }

    // Until the timer asks for the next checkpoint. Idle ticks that nobody reported are reckoned with.
    static Micros TimerLeft(Micros timer_from, Micros now, Micros timeout) noexcept;

  private:
    struct CounterSteps {
        std::int64_t timed = 0;
        std::int64_t requested = 0;
        double writing = 0;  // milliseconds that went into checkpoints; told when one ends
    };
    struct OldTrigger {
        std::int64_t segments;
        Micros evidence_at;
    };
    static constexpr unsigned kOldTriggers = 16;

    CounterSteps StepCounters(const Observation& seen) noexcept;
    void PayDebts(CounterSteps& steps, const Observation& seen, Ring<CheckpointRecord>& rows,
                  CycleEvents& events) noexcept;
    bool WellPast(std::int64_t segments, const Observation& seen) const noexcept;
    void NoteTrigger(const Observation& seen) noexcept;
    void AddOldTrigger(OldTrigger old) noexcept;
    void FollowUncut(const Observation& seen) noexcept;
    void Begin(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
               CycleEvents& events) noexcept;
    void Move(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
              CycleEvents& events) noexcept;
    void StandStill(const Observation& seen, CounterSteps steps, Ring<CheckpointRecord>& rows,
                    CycleEvents& events) noexcept;
    void OpenCycle(const Observation& seen, Micros started_at, Bytes older_trigger) noexcept;
    Bytes OlderTrigger(CheckpointCause cause, Lsn redo, Bytes segment_size) const noexcept;
    CheckpointCause RequestedCause(Lsn old_redo, Lsn redo, std::int64_t segments, std::int64_t count,
                                   Bytes segment_size, Micros now) noexcept;
    void Settle(CheckpointRecord row, CheckpointCause cause, std::int64_t count, Ring<CheckpointRecord>& rows,
                CycleEvents& events) noexcept;
    void SettleOpenRow(bool requested, const Observation& seen, Ring<CheckpointRecord>& rows,
                       CycleEvents& events) noexcept;

    Cycle cycle_;
    FinishedCycle last_forced_;
    CycleMemory memory_;
    OldTrigger old_[kOldTriggers] = {};
    unsigned old_count_ = 0;
    std::int64_t present_segments_ = 0;
    Bytes present_trigger_ = 0;

    // A checkpoint that may have been the timer's or WAL's: waits for the counters.
    CheckpointRecord open_row_;
    FinishedCycle open_row_cycle_;
    Lsn open_row_from_ = 0;
    std::int64_t open_row_segments_ = 0;
    bool has_open_row_ = false;

    std::int64_t owed_requested_ = 0;  // settled, but not yet seen in the counters
    std::int64_t owed_timed_ = 0;
    Timestamp server_start_ = 0;
    Micros last_look_ = 0;
    bool started_ = false;
    bool in_recovery_ = false;
    bool first_move_ = false;  // the first move after recovery or promotion is nobody's WAL pressure
};

}  // namespace walsizer
