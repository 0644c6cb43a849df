// pg_wal on paper: which segments lie there, recycled ones included.
#pragma once

#include "walsizer/postgres_rules.hpp"

namespace walsizer::simulator {

class WalDirectory {
  public:
    WalDirectory(Lsn start, Bytes min_wal_size, const ServerSettings& server);

    void WrittenTo(Lsn position);
    // A checkpoint completed: segments before its redo point are renamed for future use or removed. Mirrors
    // xlog.c:XLOGfileslop(), UpdateCheckPointDistanceEstimate() and RemoveOldXlogFiles(); a segment that
    // nobody holds back.
    void Recycle(Lsn redo, Bytes distance, Lsn position, const ServerSettings& server);

    Bytes size() const { return static_cast<Bytes>(newest_ - oldest_ + 1) * segment_size_; }

  private:
    std::uint64_t SegmentOf(Lsn position) const {
        return position / static_cast<std::uint64_t>(segment_size_);
    }
    std::uint64_t RecycleUpTo(Lsn redo, const ServerSettings& server) const;

    Bytes segment_size_;
    Bytes min_wal_size_;
    std::uint64_t oldest_;
    std::uint64_t newest_;
    double distance_estimate_ = 0;  // CheckPointDistanceEstimate
};

}  // namespace walsizer::simulator
