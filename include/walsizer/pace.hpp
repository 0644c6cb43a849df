// How fast WAL is written just now: over the last looks, never an average since the redo point.
#pragma once

#include "walsizer/observation.hpp"

namespace walsizer {

struct Pace {
    double burst = 0;       // bytes/s, the fastest of the last looks: decides when the trigger is reached
    double steady = 0;      // bytes/s over the last seconds: carries projections
    double fpi_share = -1;  // full-page images' share of WAL over the last seconds; -1 unknown
};

class PaceMeter {
  public:
    void Look(const Observation& seen) noexcept;
    void Restart() noexcept { count_ = 0; }
    Pace Now() const noexcept;

  private:
    struct Point {
        Micros at;
        Lsn position;
        Bytes stat_bytes;
        Bytes fpi_bytes;
        bool stat_known;
    };
    static constexpr unsigned kPoints = 32;

    const Point& Back(unsigned age) const noexcept { return points_[(count_ - 1 - age) % kPoints]; }
    unsigned Kept() const noexcept { return count_ < kPoints ? count_ : kPoints; }
    double RateSince(const Point& from) const noexcept;
    const Point* OldestWithin(Micros age) const noexcept;

    Point points_[kPoints] = {};
    Point latest_ = {};
    unsigned count_ = 0;
};

}  // namespace walsizer
