// Accounts one checkpointer's checkpoints: intervals, WAL, the most WAL in one checkpoint_timeout.
#pragma once

#include <deque>

#include "cli/log/lane.hpp"
#include "walsizer/demand.hpp"

namespace walsizer::cli {

// What holds while a checkpoint is accounted.
struct Circumstances {
    SettingsInForce settings;
    std::optional<Instant> raised_at;  // the log shows max_wal_size being raised then
    Bytes smallest_forced = -1;        // the least WAL after which the log shows one forced; -1 none
};

// Sums and maxima, so that the parts of a log (a checkpointer's life each) add up.
struct Tally {
    CauseCounts counts;
    std::deque<Checkpoint> history;
    std::optional<Instant> from;
    std::optional<Instant> to;
    Micros watched = 0;
    Bytes wal_bytes = 0;
    Bytes peak = -1;        // most WAL in one checkpoint_timeout; -1: none was watched whole
    Bytes clean_peak = -1;  // the same, without early checkpoints in it
    Bytes seen_bytes = 0;   // in the longest stretch that was shorter
    Micros seen_time = 0;
    bool told = false;  // a line about a checkpoint itself, not only a warning of frequent ones, was seen
    bool estimated = false;  // some WAL was reckoned from the trigger, because the log does not tell it
    std::int64_t forced = 0;
    std::int64_t forced_close = 0;
    Micros shortest_forced = -1;
    Micros longest_forced = -1;
    Bytes smallest_stale = -1;
    Bytes largest_stale = -1;
    Micros longest_sync_phase = -1;
    Micros longest_sync_file = -1;
    std::int64_t segment_switches = 0;  // whole segments that hardly hold anything

    void Add(const Tally& other);
};

class Account {
  public:
    void Take(LoggedCheckpoint checkpoint, const Circumstances& now);
    // Ends with what was watched since the last break.
    void Close(const Circumstances& now);
    const Tally& tally() const { return tally_; }

  private:
    void Break(const Circumstances& now);
    void Judge(LoggedCheckpoint& checkpoint, const Circumstances& now) const;
    bool IsStale(const LoggedCheckpoint& checkpoint, Bytes wal_bytes, const Circumstances& now) const;
    Bytes WalOf(const LoggedCheckpoint& checkpoint, const Circumstances& now, bool& measured) const;
    Micros IntervalBefore(const LoggedCheckpoint& checkpoint) const;
    static Micros WrittenIn(const LoggedCheckpoint& checkpoint, Micros interval, bool gap, Micros timeout);
    void Measure(const LoggedCheckpoint& checkpoint, Bytes wal_bytes, Micros interval, bool gap,
                 const Circumstances& now);
    void NoteForced(const LoggedCheckpoint& checkpoint, Micros interval, const Circumstances& now);

    Tally tally_;
    std::optional<Instant> previous_;  // start of the checkpoint before
    Lsn previous_redo_ = 0;
    Bytes position_ = 0;
    DemandMeter meter_;
    std::deque<Micros> forced_lately_;
    bool only_stale_since_raise_ = false;
};

}  // namespace walsizer::cli
