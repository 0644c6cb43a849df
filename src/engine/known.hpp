// Sums of figures that a server may not say: -1 is unknown, and so is a sum with one of them.
#pragma once

#include <cstdint>

namespace walsizer {

inline std::int64_t AddKnown(bool first, std::int64_t sum, std::int64_t value) noexcept {
    if (value < 0 || (!first && sum < 0)) return -1;
    return first ? value : sum + value;
}

}  // namespace walsizer
