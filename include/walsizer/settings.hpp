// What the DBA set: the walsizer.* settings, as the engine reads them.
#pragma once

#include "walsizer/units.hpp"

namespace walsizer {

struct TunerSettings {
    bool enable = true;          // off: watch and record, change nothing
    bool dry_run = false;        // on: decide against a virtual max_wal_size, apply nothing
    bool anticipate = true;      // raise before a forced checkpoint that is in sight
    Bytes max = 4 * kGiB;        // absolute ceiling for max_wal_size
    int threshold = 2;           // forced checkpoints in one window that cause a raise at once
    double target_ratio = 0.10;  // accepted share of forced among all effective checkpoints
};

}  // namespace walsizer
