// Instants as the clock on the wall of whoever runs the program shows them.
#pragma once

#include <ctime>
#include <string>

#include "cli/advice.hpp"

namespace walsizer::cli {

struct LocalTime {
    int day = 1;
    int month = 1;
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::int32_t utc_offset = 0;  // seconds
};

inline LocalTime LocalTimeOf(Timestamp at) {
    constexpr std::int64_t kEpoch = 946684800;  // 2000-01-01 in Unix time
    const std::time_t unix_time = at / kSecond + kEpoch;
    std::tm local = {};
    localtime_r(&unix_time, &local);
    return {local.tm_mday, local.tm_mon + 1, local.tm_hour,
            local.tm_min,  local.tm_sec,     static_cast<std::int32_t>(local.tm_gmtoff)};
}

inline Timestamp TimestampNow() {
    constexpr std::int64_t kEpoch = 946684800;
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return (static_cast<std::int64_t>(now.tv_sec) - kEpoch) * kSecond + now.tv_nsec / 1000;
}

inline Instant LocalInstant(Timestamp at) {
    return {at, LocalTimeOf(at).utc_offset, true};
}

}  // namespace walsizer::cli
