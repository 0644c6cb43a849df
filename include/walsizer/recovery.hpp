// How long crash recovery takes: learned from the recoveries this server really made.
#pragma once

#include "walsizer/text.hpp"
#include "walsizer/units.hpp"

namespace walsizer {

struct RecoverySample {
    Bytes bytes = 0;  // WAL replayed
    Micros time = 0;  // from the server's start to the end of its recovery checkpoint
};

struct RecoverySamples {
    static constexpr std::uint32_t kKept = 5;

    RecoverySample samples[kKept];  // newest first
    std::uint32_t count = 0;

    // Too small ones mean nothing and are not kept.
    void Add(const RecoverySample& sample) noexcept;
};

enum class ReplayRateSource : std::uint8_t { kMeasured, kConfigured, kAssumed };
const char* Name(ReplayRateSource source) noexcept;

// One recovery is no worst case: cache, foreign load and the part that does not depend on WAL differ
// (bench/recovery.sh: recoveries of one server, scaled to the same WAL, differed by up to a third).
constexpr double kMeasuredMargin = 1.5;

struct RecoveryModel {
    double fixed_seconds = 0;  // fsync pass, end-of-recovery checkpoint: whatever does not depend on WAL
    double rate = 0;           // bytes/s
    double margin = 1;         // of the worst case over what a recovery usually takes
    ReplayRateSource source = ReplayRateSource::kAssumed;

    // Worst case: the whole max_wal_size is replayed.
    Micros Estimate(Bytes max_wal_size) const noexcept;
    // The largest max_wal_size that recovers within `limit`.
    Bytes SizeWithin(Micros limit) const noexcept;
};

// `configured` is walsizer.replay_rate in bytes/s, 0 for none; `seen` the fastest sustained replay of this
// server as a standby, which is evidence of a lower bound only, 0 for none.
RecoveryModel ModelRecovery(const RecoverySamples& samples, double configured, double seen) noexcept;

}  // namespace walsizer
