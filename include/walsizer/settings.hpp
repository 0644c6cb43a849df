// What the DBA set: the walsizer.* settings, as the engine reads them.
#pragma once

#include "walsizer/units.hpp"

namespace walsizer {

struct TunerSettings {
    bool enable = true;          // off: watch and record, change nothing
    bool dry_run = false;        // on: decide against a virtual max_wal_size, apply nothing
    bool anticipate = true;      // raise before a forced checkpoint that is in sight
    bool tune_standby = true;    // also size while in recovery
    Bytes max = 16 * kGiB;       // absolute ceiling for max_wal_size
    int threshold = 2;           // forced checkpoints in one window that cause a raise at once
    double target_ratio = 0.10;  // accepted share of forced among all effective checkpoints
    Bytes disk_reserve = -1;     // of pg_wal's volume, never to be used; -1: automatic; 0: no disk ceiling
    Micros max_recovery_time = 5 * kMinute;  // ceiling by worst-case crash recovery; 0: none
    double replay_rate = 0;                  // bytes/s replayed in recovery; 0: learned or assumed
    Micros shrink_after = 0;                 // shrink after the need stayed far below for this long; 0: never
};

}  // namespace walsizer
