// How big max_wal_size may be: the smallest of several ceilings; the one that governs is always named.
#pragma once

#include "walsizer/journal.hpp"
#include "walsizer/postgres_rules.hpp"
#include "walsizer/recovery.hpp"
#include "walsizer/settings.hpp"
#include "walsizer/volume.hpp"

namespace walsizer {

// What the ceilings depend on.
struct LimitFacts {
    TunerSettings settings;
    ServerSettings server;
    VolumeFacts volume;  // as last read
    RecoveryModel recovery;
    Bytes present_size = 0;     // max_wal_size, in a dry run the virtual one
    bool holder_grows = false;  // somebody keeps WAL without bound, more with every checkpoint
};

struct Ceiling {
    Bytes size = 0;  // whole segments, never below PostgreSQL's own minimum of two
    Limit governs = Limit::kMax;
    bool frozen = false;  // no limit is reached, but a growing holder of WAL forbids growth
};

// Walks the ceilings; each is a line there.
Ceiling PresentCeiling(const LimitFacts& facts) noexcept;

// The disk's own ceiling, whatever governs: (free - reserve + pg_wal - held) / 1.5. kLargestMaxWalSize when
// unknown or switched off. Constant while WAL flows: what pg_wal gains the volume loses.
Bytes DiskCeiling(const LimitFacts& facts) noexcept;

// disk_reserve in force, in bytes; 0 when there is no disk ceiling.
Bytes DiskReserve(const TunerSettings& settings, const VolumeFacts& volume) noexcept;

// "the disk ceiling governs (pg_wal's volume has 6.1 GB free, 4.0 GB of it reserved)", and what one can do
// about it.
Text<256> Describe(const Ceiling& ceiling, const LimitFacts& facts) noexcept;
Text<256> Remedy(const Ceiling& ceiling, const LimitFacts& facts) noexcept;

}  // namespace walsizer
