#include "walsizer/limits.hpp"

#include <algorithm>

namespace walsizer {

namespace {

void Lower(Ceiling& ceiling, Bytes size, Limit limit) noexcept {
    if (size >= ceiling.size) return;
    ceiling = {size, limit};
}

}  // namespace

Ceiling PresentCeiling(const TunerSettings& settings, const ServerSettings& server) noexcept {
    Ceiling ceiling = {kLargestMaxWalSize, Limit::kMax};
    Lower(ceiling, settings.max, Limit::kMax);
    ceiling.size = std::max(RoundDownToSegments(ceiling.size, server), SmallestMaxWalSize(server));
    return ceiling;
}

}  // namespace walsizer
