// What the figures of effect.hpp say, in words.
#pragma once

#include "walsizer/effect.hpp"

namespace walsizer {

struct VerdictFacts {
    const EffectFacts& facts;
    const DecisionRecord& first;
    const DecisionRecord& last;
    std::uint32_t changes;
    bool all_raises;
};

// The loads are alike enough for their WAL to be compared.
bool Comparable(const Measures& before, const Measures& after) noexcept;

Reason Verdict(const VerdictFacts& about, const Measures& before, const Measures& after) noexcept;
Reason VerdictElsewhere(const VerdictFacts& about) noexcept;

}  // namespace walsizer
