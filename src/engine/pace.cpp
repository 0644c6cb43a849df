#include "walsizer/pace.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// Looks come as close as 50 ms; points this far apart keep the ring long enough for the spans below.
constexpr Micros kPointSpacing = 400 * kMillisecond;
// Backends publish WAL statistics at most once a second, so a share needs several seconds to mean anything.
constexpr Micros kShareSpan = 10 * kSecond;
constexpr Micros kSteadySpan = 5 * kSecond;
// Shorter than this, one busy client's writes look like a storm.
constexpr Micros kShortestSpan = 100 * kMillisecond;
// Below this coverage the statistics miss a running statement and say nothing about the present mix.
constexpr double kCoverage = 0.8;

}  // namespace

void PaceMeter::Look(const Observation& seen) noexcept {
    latest_ = {seen.now, seen.position, seen.wal.bytes, seen.wal.fpi_bytes, seen.wal.known};
    if (count_ == 0 || seen.now - Back(0).at >= kPointSpacing) points_[count_++ % kPoints] = latest_;
}

double PaceMeter::RateSince(const Point& from) const noexcept {
    const Micros span = latest_.at - from.at;
    if (span <= 0 || latest_.position <= from.position) return 0;
    return static_cast<double>(latest_.position - from.position) * kSecond / static_cast<double>(span);
}

const PaceMeter::Point* PaceMeter::OldestWithin(Micros age) const noexcept {
    const Point* oldest = nullptr;
    for (unsigned back = 0; back < Kept(); ++back) {
        const Point& point = Back(back);
        // A worker that was stopped for a while leaves one old point: better a long span than none.
        if (latest_.at - point.at > age && oldest != nullptr && oldest->at < latest_.at) break;
        oldest = &point;
        if (latest_.at - point.at > age) break;
    }
    return oldest;
}

Pace PaceMeter::Now() const noexcept {
    Pace pace;
    if (count_ == 0) return pace;
    const Point* steady = OldestWithin(kSteadySpan);
    pace.steady = RateSince(*steady);
    pace.burst = pace.steady;
    for (unsigned back = 0, used = 0; back < Kept() && used < 3; ++back) {
        if (latest_.at - Back(back).at < kShortestSpan) continue;
        pace.burst = std::max(pace.burst, RateSince(Back(back)));
        ++used;
    }
    const Point& from = *OldestWithin(kShareSpan);
    if (latest_.stat_known && from.stat_known && latest_.stat_bytes > from.stat_bytes) {
        const double stat_bytes = static_cast<double>(latest_.stat_bytes - from.stat_bytes);
        const double fpi_bytes = static_cast<double>(std::max<Bytes>(latest_.fpi_bytes - from.fpi_bytes, 0));
        if (stat_bytes >= kCoverage * static_cast<double>(latest_.position - from.position))
            pace.fpi_share = std::min(fpi_bytes / stat_bytes, 0.95);
    }
    return pace;
}

}  // namespace walsizer
