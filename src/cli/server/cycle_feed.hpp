// Brings looks over SQL into the order in which things happened, and accounts them with the engine.
//
// Over SQL a redo point shows only when its checkpoint has completed, up to checkpoint_timeout after it
// began. Each look is therefore held back until the redo point that was in force then is known: the latest
// one below the look's own WAL position. So the engine sees redo move when it moved, as it does inside the
// server, and counters late, as there.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "cli/advice.hpp"
#include "cli/server/sample.hpp"
#include "walsizer/tracker.hpp"

namespace walsizer::cli {

class CycleFeed {
  public:
    CycleFeed();
    CycleFeed(const CycleFeed&) = delete;

    void Add(const Sample& sample);
    // The last looks, whose redo point nobody will learn any more, go in as they are.
    void Finish();

    const Tracker& tracker() const { return tracker_; }
    const Journal& journal() const { return journal_; }
    bool empty() const { return samples_ == 0; }
    const Observation& first() const { return first_; }
    const Observation& latest() const { return latest_; }

    // Time of which the server is known; what lies between two looks far apart is not.
    Micros watched() const { return watched_; }
    Bytes wal_bytes() const { return wal_bytes_; }
    bool restarted() const { return restarted_; }
    // Forced at the trigger in force when they came.
    std::int64_t forced_at_present() const { return forced_at_present_; }
    // Started while the feed watched, as far as they completed. Oldest first; each stands for one checkpoint.
    std::vector<Checkpoint> Checkpoints() const;
    CauseCounts Counts() const;
    // A checkpoint that the counters show and whose end was not seen.
    bool OneIsRunning() const;

  private:
    struct Completion {
        Timestamp started = 0;
        Micros total = -1;
        double write_time = -1;  // milliseconds
        double sync_time = -1;
        std::int64_t buffers = -1;
    };
    struct Told {
        Cause cause;
        bool stale;
    };

    void NoteCompletion(const Sample& sample);
    void FollowCounters(const Observation& seen);
    void Settle(bool all);
    void Feed(Sample sample, bool with_counters);
    void Classify(std::uint64_t rows_before, const Observation& seen, const TrackerEvents& events, bool gap);
    Lsn RedoBelow(Lsn position) const;

    std::vector<DecisionRecord> decisions_;
    std::vector<WindowRecord> windows_;
    std::vector<CheckpointRecord> rows_;
    std::vector<WalBucket> buckets_;
    std::uint64_t written_[4] = {};
    Totals totals_;
    Journal journal_;
    Tracker tracker_;

    std::deque<Sample> held_;
    std::map<Lsn, Completion> completed_;
    std::map<std::uint64_t, Told> told_;  // by row, as written
    Sample at_last_completion_;
    Sample latest_sample_;
    Observation shown_at_;           // the look at which the last completion was counted
    std::deque<Observation> steps_;  // looks since then at which something was counted
    bool awaited_ = false;           // the last completion was not counted yet
    Observation first_;
    Observation latest_;
    Observation fed_;
    std::int64_t samples_ = 0;
    std::int64_t fed_count_ = 0;
    std::int64_t forced_at_present_ = 0;
    Micros watched_ = 0;
    Bytes wal_bytes_ = 0;
    bool expects_recovery_ = false;
    bool restarted_ = false;
};

}  // namespace walsizer::cli
