// From what was seen to what to do: the engine's need, held below the ceilings, never below the present
// value.
#pragma once

#include "cli/advice.hpp"
#include "cli/config_lines.hpp"
#include "cli/sizing_options.hpp"
#include "walsizer/limits.hpp"

namespace walsizer::cli {

// What speaks for a change, and what of the server is known besides its settings.
struct Evidence {
    std::int64_t forced = 0;        // by WAL volume, at the trigger in force
    std::int64_t forced_close = 0;  // the most of them within one checkpoint_timeout
    std::int64_t effective = 0;     // checkpoints of this server itself, whatever their cause
    bool in_sight = false;          // WAL at its measured pace forces one; the span was too short to see it
    Bytes wal_dir_size = 0;         // of pg_wal; 0 unknown
    HeldWal held;                   // by somebody who needs it, so that no checkpoint removes it
    std::vector<Place> places;      // where this server is configured
};

// pg_wal's volume, as far as the options and the source tell.
VolumeFacts VolumeOf(const Evidence& evidence, const CeilingOptions& options);

// The ceilings, as far as the options and the source tell.
LimitFacts LimitsOf(const ServerAdvice& advice, const Evidence& evidence, const CeilingOptions& options);

// Fills advice.recommendation from advice.recommendation.need and settings.
void Recommend(ServerAdvice& advice, const Evidence& evidence, const CeilingOptions& options);

}  // namespace walsizer::cli
