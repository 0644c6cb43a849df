// Units of the engine. Every quantity has one unit everywhere: bytes, microseconds, WAL positions in bytes.
#pragma once

#include <cstdint>

namespace walsizer {

using Bytes = std::int64_t;      // a size; never negative
using Lsn = std::uint64_t;       // a WAL position in bytes, as PostgreSQL's XLogRecPtr; 0 is "none"
using Micros = std::int64_t;     // a duration, or an instant of a monotonic clock
using Timestamp = std::int64_t;  // an instant of the wall clock in microseconds since PostgreSQL's epoch
                                 // (2000-01-01), for people to read; never used to measure an interval

inline constexpr Bytes kKiB = 1024;
inline constexpr Bytes kMiB = 1024 * kKiB;
inline constexpr Bytes kGiB = 1024 * kMiB;

inline constexpr Micros kMillisecond = 1000;
inline constexpr Micros kSecond = 1000 * kMillisecond;
inline constexpr Micros kMinute = 60 * kSecond;
inline constexpr Micros kHour = 60 * kMinute;

// The largest max_wal_size PostgreSQL accepts: MAX_KILOBYTES megabytes (guc.c, 64-bit platforms, 13 to 19).
inline constexpr Bytes kLargestMaxWalSize = Bytes{2147483647} * kMiB;

}  // namespace walsizer
