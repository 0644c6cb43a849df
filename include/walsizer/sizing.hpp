// How big max_wal_size has to be: from WAL that really fell into one checkpoint_timeout, or from a projection
// of it.
#pragma once

#include "walsizer/postgres_rules.hpp"
#include "walsizer/tracker.hpp"

namespace walsizer {

// Headroom on what was measured and on what was only projected: a measured need is exact but for the load's
// own jitter; a projection also errs about how full-page images fade.
inline constexpr double kMeasuredHeadroom = 1.05;
inline constexpr double kProjectedHeadroom = 1.25;

// WAL of one checkpoint_timeout.
struct Demand {
    double seen = 0;    // bytes that were written
    double unseen = 0;  // bytes still expected
};

struct CycleSoFar {
    Bytes wal_bytes = 0;
    Micros elapsed = 0;  // since its redo point
    FpiOfCycle fpi;
};

// Completes a cycle to a whole checkpoint_timeout, `remaining` being the time without its WAL. The rate is
// that of the last seconds; its full-page images fade as PostgreSQL's do, because a page is logged whole only
// once a cycle.
Demand Project(const CycleSoFar& cycle, Micros remaining, const Pace& pace) noexcept;

// max_wal_size at which that demand forces no checkpoint, headroom included, in whole segments.
Bytes SizeFor(const Demand& demand, const ServerSettings& server) noexcept;

enum class NeedBasis : std::uint8_t {
    kProjected,   // less than one checkpoint_timeout was watched
    kMeasured,    // the most WAL in one checkpoint_timeout lately
    kUpperBound,  // the same, but under frequent checkpoints, whose full-page images inflate it
};

struct Need {
    Bytes size = 0;    // max_wal_size that would do, uncapped
    double bytes = 0;  // WAL in one checkpoint_timeout that it rests on
    NeedBasis basis = NeedBasis::kProjected;
    bool sound = false;  // enough was watched to act on it without a checkpoint in sight
};

// What the last hour (12 windows) needed.
Need PresentNeed(const Tracker& tracker, const Journal& journal) noexcept;

}  // namespace walsizer
