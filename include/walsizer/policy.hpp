// When to raise, and to what: anticipate, threshold, ratio. Pure judgement over what the tracker accounted;
// the tuner (tuner.hpp) caps the proposal by the ceiling, records it and has it applied.
#pragma once

#include "walsizer/settings.hpp"
#include "walsizer/sizing.hpp"
#include "walsizer/tracker.hpp"

namespace walsizer {

// The open cycle against its trigger. In a dry run it is a virtual cycle, as the virtual size would have made
// it.
struct Race {
    Bytes size = 0;         // max_wal_size it is run with
    Bytes wal_bytes = 0;    // since the redo point
    Bytes left = 0;         // until WAL asks for a checkpoint; 0 when it has
    Bytes total = 0;        // from the redo point to there
    Micros elapsed = 0;     // since the redo point
    Micros timer_left = 0;  // until the timer asks
    Micros eta = 0;         // until WAL reaches the trigger at the present pace; kNever without WAL
    double pace = 0;        // bytes/s
};
inline constexpr Micros kNever = 365 * 24 * kHour;

Race RunRace(Bytes size, const CycleStart& from, const Tracker& tracker) noexcept;

// How long to wait for the next look: 1 s when nothing happens, down to 50 ms as the trigger nears.
Micros NextLook(const Race& race) noexcept;

struct Proposal {
    bool raise = false;
    DecisionCause cause = DecisionCause::kAnticipate;
    Bytes wanted = 0;  // what the evidence asks for
    Bytes step = 0;    // the most that one raise may reach; the next look at the new value tells more
    Reason evidence;
};

// A forced checkpoint is in sight: WAL reaches the trigger before the timer, within three looks plus
// the time a new value takes to work (`reload_time`).
Proposal Anticipate(const Race& race, const Tracker& tracker, const Journal& journal,
                    Micros reload_time) noexcept;

// Forced checkpoints of the open window reached the threshold.
Proposal ReactToThreshold(const Race& race, std::int64_t forced, const Tracker& tracker,
                          const TunerSettings& settings) noexcept;

// A window closed, and too many of the checkpoints of the last windows were forced.
Proposal ReactToRatio(const Race& race, const CheckpointCounts& recent, const Tracker& tracker,
                      const Journal& journal, const TunerSettings& settings) noexcept;

// A running statement that has not heard of the present trigger forces checkpoints at its own, older one, so
// that none of these cycles comes near the present one. But the WAL since the last other checkpoint has
// reached it, as it will when the next such statement begins with the present trigger; and a raise spreads
// the checkpoint that runs over more WAL, while what the statement asks for has to wait. Where checkpoints
// are hardly spread it could not, and only OutlastStatement() is left.
Proposal SeeThroughStatement(const Race& race, const Tracker& tracker) noexcept;

// A window closed in which a running statement forced `stale` checkpoints at an older trigger. They cut each
// cycle short, so nothing comes in sight of the present trigger while the statement lasts; but when the WAL
// of one whole checkpoint_timeout is beyond it, the next such statement will be, too, and a larger size
// already lets the checkpointer take its time over the checkpoints that this one forces.
Proposal OutlastStatement(const Race& race, std::int64_t stale, const Tracker& tracker,
                          const Journal& journal) noexcept;

// In recovery: no counter and no trigger is believed there, only WAL replayed while it streams.
Proposal JudgeStandby(Bytes size, const Tracker& tracker, const Journal& journal) noexcept;

// Asked to judge now: what was measured or can be projected, without waiting for a checkpoint.
Proposal JudgeNow(const Race& race, const Tracker& tracker, const Journal& journal) noexcept;

// The most WAL that any whole checkpoint_timeout of the last `span` saw, for shrinking; -1 while the journal
// does not reach back that far.
Bytes PeakDemand(const Tracker& tracker, const Journal& journal, Micros span) noexcept;

// Checkpoints of the last `windows` windows, or of as many as there are.
CheckpointCounts RecentCheckpoints(const Journal& journal, std::uint32_t windows) noexcept;

}  // namespace walsizer
