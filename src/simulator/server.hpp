// A PostgreSQL server on paper that lives through a trace: the engine's checkpointer, and around it the
// pacing of its writes, reloads that arrive late, pg_wal and its volume, crashes and their recovery.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "simulator/trace.hpp"
#include "simulator/wal_directory.hpp"
#include "walsizer/limits.hpp"
#include "walsizer/observation.hpp"

namespace walsizer::simulator {

struct Figures {
    std::int64_t forced = 0;
    std::int64_t timed = 0;
    std::int64_t requested = 0;  // by commands
    std::int64_t skipped = 0;
    double record_bytes = 0;
    double image_bytes = 0;
    double byte_hours = 0;    // max_wal_size over time
    Micros in_violation = 0;  // max_wal_size was above a ceiling, and above where it began
    Bytes largest_wal_dir = 0;
    Micros longest_recovery = 0;  // what a crash would have cost at the worst moment
    Micros downtime = 0;          // what crashes did cost
};

class SimulatedServer {
  public:
    explicit SimulatedServer(const Trace& trace);
    SimulatedServer(const SimulatedServer&) = delete;
    SimulatedServer& operator=(const SimulatedServer&) = delete;

    // Lives on until `to`, or to the trace's end.
    void Advance(Micros to);
    bool Finished() const { return step_ >= trace_.steps.size(); }

    // ALTER SYSTEM and a reload: idle processes have it a little later, a statement that runs when it ends.
    void SetMaxWalSize(Bytes size) { reloads_.emplace_back(now() + trace_.reload_delay, size); }

    Observation Observe() const;
    Micros now() const { return paper_.now(); }
    Bytes max_wal_size() const { return settings_.max_wal_size; }
    // The smallest of the trace's ceilings, for who knows how fast this server replays.
    Bytes TrueCeiling() const;
    const Figures& figures() const { return figures_; }
    const Trace& trace() const { return trace_; }

    // Goes up with each crash: whoever watched from inside the server has to start anew.
    int lives() const { return lives_; }
    const RecoverySample& last_recovery() const { return last_recovery_; }

    // What the future holds while nobody interferes, for those who skip looks at which nothing can happen.
    const PaperCheckpointer& paper() const { return paper_; }
    const PaperLoad& load() const { return Finished() ? idle_ : trace_.steps[step_].load; }
    Micros LoadEnds() const { return now() + left_; }
    // The first load that follows, commands left out; the present one at the end of the trace.
    const PaperLoad& NextLoad() const;
    bool Settled() const { return reloads_.empty() && statement_until_ <= now() && now() >= counters_at_; }
    Micros WriteEnds(Micros most) const;  // when the running checkpoint ends, at most `most` from now

  private:
    void Command(const TraceStep& step);
    void Recover();
    void Arrive();
    Micros NextStop(Micros to) const;
    void Account(Micros elapsed, Bytes size_meanwhile);
    void CheckpointStarts(const PaperStep& step);
    void CheckpointEnds();
    VolumeFacts Volume() const;
    void Enter(std::size_t step);

    const Trace& trace_;
    const PaperLoad idle_;
    LimitFacts limits_;        // with replay as fast as it really is
    ServerSettings settings_;  // as the checkpointer and an observer have them
    PaperCheckpointer paper_;
    WalDirectory wal_;
    std::size_t step_ = 0;
    Micros left_ = 0;
    std::deque<std::pair<Micros, Bytes>> reloads_;
    Micros statement_until_ = 0;

    bool writing_ = false;
    bool fast_ = false;       // no pacing: a command asked for the checkpoint
    Micros paced_least_ = 0;  // storage needs this long at full speed
    Micros paced_most_ = 0;   // a checkpointer on schedule sleeps at most 100 ms for each page
    double distance_ = 0;  // WAL of the cycle that ended, and its redo point, until the checkpoint completes
    Lsn completed_redo_ = 0;

    CheckpointCounters counters_;
    CheckpointCounters counters_before_;  // until counters_at_
    Micros counters_at_ = 0;
    WalStatistics statistics_before_;  // while a statement runs
    Timestamp server_start_ = 0;
    RecoverySample last_recovery_;
    int lives_ = 1;
    Figures figures_;
};

}  // namespace walsizer::simulator
