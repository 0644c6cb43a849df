// The most WAL that really fell into one stretch of checkpoint_timeout: a sliding window over recent
// positions.
#pragma once

#include "walsizer/units.hpp"

namespace walsizer {

struct Stretch {
    bool complete = false;  // a whole checkpoint_timeout was watched
    bool clean = false;     // no checkpoint inside came early: full-page images are as with timed checkpoints
    double bytes = 0;       // WAL in the stretch that ends now; what was seen so far while not complete
    Micros watched = 0;     // at most checkpoint_timeout
};

class DemandMeter {
  public:
    void Restart() noexcept { *this = DemandMeter(); }
    void Look(Micros now, Lsn position, Micros timeout) noexcept;

    // A cycle much shorter than the timeout ended: WAL until now holds full-page images that rarer
    // checkpoints would not have written, so stretches that reach back before `now` are upper bounds only.
    void CycleCutShort(Micros now) noexcept { clean_from_ = now; }

    Stretch Latest(Micros timeout) const noexcept;

  private:
    struct Point {
        Micros at;
        Lsn position;
    };
    static constexpr unsigned kPoints = 66;  // a timeout in sixtieths, and some to interpolate at both ends

    Point points_[kPoints] = {};
    Point latest_ = {};
    Micros clean_from_ = -1;
    unsigned count_ = 0;
};

}  // namespace walsizer
