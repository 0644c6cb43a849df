#include "simulator/comparison.hpp"

#include <algorithm>

namespace walsizer::simulator {

RunResult RunPolicy(const Trace& trace, Policy& policy) {
    SimulatedServer server(trace);
    int lives = server.lives();
    Micros next = server.now() + policy.Look(server);
    while (!server.Finished()) {
        server.Advance(next);
        if (server.Finished()) break;
        if (server.lives() != lives) {
            lives = server.lives();
            policy.Restarted(server);
        }
        next = server.now() + policy.Look(server);
    }
    return {server.figures(), server.max_wal_size(), policy.looks(), policy.changes()};
}

RunResult RunFixed(const Trace& trace, Bytes size) {
    Trace fixed = trace;
    fixed.server.max_wal_size = size;
    FixedPolicy policy;
    return RunPolicy(fixed, policy);
}

Bytes HindsightSize(const Trace& trace) {
    const Bytes segment = trace.server.segment_size;
    const auto enough = [&](std::int64_t segments) {
        return RunFixed(trace, segments * segment).figures.forced == 0;
    };
    std::int64_t high = std::max<std::int64_t>(SimulatedServer(trace).TrueCeiling() / segment, 2);
    if (!enough(high)) return high * segment;
    std::int64_t low = 1;  // too small, or smaller than PostgreSQL accepts
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (enough(middle) ? high : low) = middle;
    }
    return high * segment;
}

const char* Name(PolicyKind kind) {
    switch (kind) {
        case PolicyKind::kWalsizer:
            return "walsizer";
        case PolicyKind::kReactive:
            return "reactive";
        case PolicyKind::kMultiply:
            return "multiply";
        case PolicyKind::kMultiplyShrink:
            return "multiply+shrink";
        case PolicyKind::kHindsight:
            return "hindsight";
    }
    return "unknown";
}

double TraceResult::Ratio(PolicyKind kind) const {
    const Bytes best = std::max(hindsight, trace->server.max_wal_size);
    return static_cast<double>(runs[static_cast<int>(kind)].final_size) / static_cast<double>(best);
}

TraceResult Compare(const Trace& trace) {
    TraceResult result;
    result.trace = &trace;
    result.hindsight = HindsightSize(trace);
    for (const PolicyKind kind : kPolicies) {
        RunResult& run = result.runs[static_cast<int>(kind)];
        TunerSettings settings = trace.tuner;
        settings.anticipate = kind != PolicyKind::kReactive;
        WalsizerPolicy walsizer(settings, true);
        MultiplyingPolicy multiplying(kind == PolicyKind::kMultiplyShrink);
        if (kind == PolicyKind::kWalsizer || kind == PolicyKind::kReactive)
            run = RunPolicy(trace, walsizer);
        else if (kind == PolicyKind::kHindsight)
            run = RunFixed(trace, std::max(result.hindsight, trace.server.max_wal_size));
        else
            run = RunPolicy(trace, multiplying);
    }
    return result;
}

}  // namespace walsizer::simulator
