// How big max_wal_size may be: the smallest of several ceilings, which one governs is always named.
#pragma once

#include "walsizer/journal.hpp"
#include "walsizer/postgres_rules.hpp"
#include "walsizer/settings.hpp"

namespace walsizer {

struct Ceiling {
    Bytes size = 0;  // whole segments, never below PostgreSQL's own minimum of two
    Limit governs = Limit::kMax;
};

// Walks the ceilings; each new one is a line here.
Ceiling PresentCeiling(const TunerSettings& settings, const ServerSettings& server) noexcept;

}  // namespace walsizer
