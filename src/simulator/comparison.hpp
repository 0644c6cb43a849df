// Policies against traces, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "simulator/policy.hpp"

namespace walsizer::simulator {

struct RunResult {
    Figures figures;
    Bytes final_size = 0;
    std::int64_t looks = 0;
    std::vector<Policy::Change> changes;
};

RunResult RunPolicy(const Trace& trace, Policy& policy);
RunResult RunFixed(const Trace& trace, Bytes size);

// The smallest max_wal_size, in whole segments, that would have been best all along: without a forced
// checkpoint, or, where the ceilings do not allow that, the ceiling. Found by trying.
Bytes HindsightSize(const Trace& trace);

enum class PolicyKind { kWalsizer, kReactive, kMultiply, kMultiplyShrink, kHindsight };
inline constexpr PolicyKind kPolicies[] = {PolicyKind::kWalsizer, PolicyKind::kReactive,
                                           PolicyKind::kMultiply, PolicyKind::kMultiplyShrink,
                                           PolicyKind::kHindsight};
const char* Name(PolicyKind kind);

struct TraceResult {
    const Trace* trace;
    Bytes hindsight = 0;
    RunResult runs[5];

    // The size at the end over the best in hindsight, or over where the server began if that is more: no
    // policy goes below it.
    double Ratio(PolicyKind kind) const;
};

TraceResult Compare(const Trace& trace);

}  // namespace walsizer::simulator
