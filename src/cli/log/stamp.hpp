// Time stamps in log lines, in the forms PostgreSQL, syslog and containers write them.
#pragma once

#include <optional>
#include <string_view>

#include "cli/advice.hpp"

namespace walsizer::cli {

struct FoundStamp {
    Instant instant;
    std::size_t begin = 0;  // where in the text
    std::size_t end = 0;
};

// The stamp of a log line's prefix. PostgreSQL's own form (with a space) is preferred to a container's
// (with a T) in front of it; then come epoch seconds (%n), syslog's "Mar 25 00:56:43", a time of day alone.
std::optional<FoundStamp> FindStamp(std::string_view prefix);

// Syslog writes no year: the one in which the stamp lies in the past of `now`.
void SetClockForYears(Timestamp now);

}  // namespace walsizer::cli
