#include "simulator/wal_directory.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer::simulator {

WalDirectory::WalDirectory(Lsn start, Bytes min_wal_size, const ServerSettings& server)
    : segment_size_(server.segment_size),
      min_wal_size_(min_wal_size),
      oldest_(SegmentOf(start)),
      newest_(oldest_) {}

void WalDirectory::WrittenTo(Lsn position) {
    newest_ = std::max(newest_, SegmentOf(position));
}

std::uint64_t WalDirectory::RecycleUpTo(Lsn redo, const ServerSettings& server) const {
    const auto segments = [&](Bytes size) { return static_cast<std::uint64_t>(size / segment_size_); };
    const double distance = (1 + server.completion_target) * distance_estimate_ * 1.10;
    const double wanted =
        std::ceil((static_cast<double>(redo) + distance) / static_cast<double>(segment_size_));
    const std::uint64_t least = SegmentOf(redo) + segments(min_wal_size_) - 1;
    const std::uint64_t most = SegmentOf(redo) + segments(server.max_wal_size) - 1;
    return std::min(std::max(static_cast<std::uint64_t>(wanted), least), most);
}

void WalDirectory::Recycle(Lsn redo, Bytes distance, Lsn position, const ServerSettings& server) {
    const auto bytes = static_cast<double>(distance);
    distance_estimate_ = distance_estimate_ < bytes ? bytes : 0.90 * distance_estimate_ + 0.10 * bytes;
    WrittenTo(position);
    const std::uint64_t keep = std::max(SegmentOf(redo), oldest_);
    const std::uint64_t old = keep - oldest_;
    oldest_ = keep;
    const std::uint64_t up_to = RecycleUpTo(redo, server);
    if (up_to > newest_) newest_ += std::min(old, up_to - newest_);
}

}  // namespace walsizer::simulator
