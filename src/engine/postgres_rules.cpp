#include "walsizer/postgres_rules.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer {

namespace {

std::uint64_t SegmentNumber(Lsn position, Bytes segment_size) noexcept {
    return position / static_cast<std::uint64_t>(segment_size);
}

}  // namespace

std::int64_t CheckpointSegments(Bytes max_wal_size, const ServerSettings& server) noexcept {
    const double segments = static_cast<double>(max_wal_size / server.segment_size);
    const auto target = static_cast<std::int64_t>(segments / (1.0 + server.completion_target));
    return std::max<std::int64_t>(target, 1);
}

Bytes TriggerSize(Bytes max_wal_size, const ServerSettings& server) noexcept {
    return CheckpointSegments(max_wal_size, server) * server.segment_size;
}

Bytes PacedSize(Bytes max_wal_size, const ServerSettings& server) noexcept {
    return static_cast<Bytes>(server.completion_target *
                              static_cast<double>(TriggerSize(max_wal_size, server)));
}

bool ReachedTrigger(Lsn old_redo, Lsn redo, std::int64_t segments, Bytes segment_size) noexcept {
    return SegmentNumber(redo, segment_size) >=
           SegmentNumber(old_redo, segment_size) + static_cast<std::uint64_t>(segments);
}

Lsn TriggerPosition(Lsn redo, std::int64_t segments, Bytes segment_size) noexcept {
    return (SegmentNumber(redo, segment_size) + static_cast<std::uint64_t>(segments)) *
           static_cast<std::uint64_t>(segment_size);
}

Bytes SizeForDistance(double distance, const ServerSettings& server) noexcept {
    const double segment = static_cast<double>(server.segment_size);
    // What no setting could hold is cut before it becomes an integer.
    const double most = static_cast<double>(kLargestMaxWalSize / server.segment_size);
    const double segments = std::min(std::ceil(std::max(distance, 0.0) / segment) + 1.0, most);
    Bytes size = RoundUpToSegments(segments * segment * (1.0 + server.completion_target), server);
    // PostgreSQL's truncation may still eat one: its floating point decides, so ask it.
    const auto wanted = static_cast<std::int64_t>(segments);
    while (CheckpointSegments(size, server) < wanted && size <= kLargestMaxWalSize - server.segment_size)
        size += server.segment_size;
    return std::max(size, SmallestMaxWalSize(server));
}

Bytes RoundUpToSegments(double size, const ServerSettings& server) noexcept {
    const double segment = static_cast<double>(server.segment_size);
    const double largest = static_cast<double>(RoundDownToSegments(kLargestMaxWalSize, server));
    // A hair of tolerance, so that a size which is whole segments but for rounding does not gain one.
    return static_cast<Bytes>(std::min(std::ceil(size / segment - 1e-9) * segment, largest));
}

Bytes RoundDownToSegments(Bytes size, const ServerSettings& server) noexcept {
    return size / server.segment_size * server.segment_size;
}

}  // namespace walsizer
