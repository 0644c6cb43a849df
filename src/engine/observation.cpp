#include "walsizer/observation.hpp"

namespace walsizer {

namespace {

// Far above any real size, position or time, and far below where sums would overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 60;

bool InRange(std::int64_t value) noexcept {
    return value >= 0 && value < kLargest;
}
bool InRange(double value) noexcept {
    return value >= 0 && value < 1e18;
}

bool IsPlausible(const ServerSettings& server) noexcept {
    const Bytes segment = server.segment_size;
    const bool segment_is_legal = segment >= kMiB && segment <= kGiB && (segment & (segment - 1)) == 0;
    // checkpoint_timeout is 30 s to a day; tests and traces may go somewhat further.
    return segment_is_legal && server.max_wal_size > 0 && server.max_wal_size <= kLargestMaxWalSize &&
           server.completion_target >= 0 && server.completion_target <= 1 &&
           server.checkpoint_timeout >= kSecond && server.checkpoint_timeout <= 366 * 24 * kHour;
}

}  // namespace

bool IsPlausible(const Observation& seen, Micros latest) noexcept {
    const CheckpointCounters& counters = seen.counters;
    const VolumeFacts& volume = seen.volume;
    const BufferCounters& buffers = seen.buffers;
    return IsPlausible(seen.server) && InRange(seen.now) && seen.now >= latest && seen.redo_age < kLargest &&
           seen.wall > -kLargest && seen.wall < kLargest && seen.position < static_cast<Lsn>(kLargest) &&
           seen.redo <= seen.position && InRange(counters.timed) && InRange(counters.requested) &&
           InRange(counters.buffers_written) && InRange(counters.write_time) && InRange(counters.sync_time) &&
           InRange(seen.wal.bytes) && InRange(seen.wal.fpi_bytes) && InRange(seen.wal.records) &&
           InRange(buffers.clean) && InRange(buffers.maxwritten) && InRange(buffers.backend) &&
           InRange(buffers.backend_fsync) && seen.next_xid >= -1 && InRange(volume.size) &&
           InRange(volume.free) && InRange(volume.wal_dir_size) && InRange(volume.held.bytes);
}

}  // namespace walsizer
