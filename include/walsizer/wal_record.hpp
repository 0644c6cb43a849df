// WAL as it was written, bucket by bucket over a day and more: what what_if() replays.
#pragma once

#include "walsizer/first_touch.hpp"
#include "walsizer/journal.hpp"
#include "walsizer/observation.hpp"

namespace walsizer {

// Whether nothing was missed between two buckets: no restart, no pause of the observer.
bool Follows(const WalBucket& before, const WalBucket& after) noexcept;

// Read from a file, or seen on a server that makes no sense: within bounds that arithmetic can stand.
void MendBucket(WalBucket& bucket) noexcept;

// Fills the ring and the profile of full-page images. A plain value.
class WalRecorder {
  public:
    // `requests`: checkpoints by command that were accounted for at this look.
    void Look(const Observation& seen, std::int64_t requests, Ring<WalBucket>& buckets) noexcept;

    void Remember(const ImageProfile& profile) noexcept { profile_ = profile; }
    const ImageProfile& profile() const noexcept { return profile_; }

  private:
    struct Point {
        Micros now = 0;
        Lsn position = 0;
        Lsn redo = 0;
        WalStatistics wal;
    };

    void Begin(const Observation& seen) noexcept;
    void ReadStatistics(const Point& seen) noexcept;
    WalStatistics StatisticsAt(Lsn redo, const Point& seen) const noexcept;
    void FollowCycle(const Point& seen) noexcept;
    void Close(const Observation& seen, Ring<WalBucket>& buckets) noexcept;
    void Spread(Ring<WalBucket>& buckets) noexcept;

    ImageProfile profile_;
    WalBucket open_;
    Micros open_from_ = 0;
    Point latest_;
    Point reported_;      // the last look that read WAL statistics
    Point stretch_from_;  // and the one before which the profile has them
    Timestamp server_start_ = 0;
    Micros timeout_ = 1;
    bool in_recovery_ = false;
    bool started_ = false;

    // The cycle: statistics at its redo point.
    WalStatistics at_redo_;
    Micros redo_seen_ = 0;
    unsigned last_bin_ = 0;
    SinceRedo mix_;  // of the last stretch

    // Buckets that still wait for statistics, and what these reported since.
    std::uint32_t waiting_ = 0;
    double waiting_wal_ = 0;
    WalStatistics waiting_from_;
};

}  // namespace walsizer
