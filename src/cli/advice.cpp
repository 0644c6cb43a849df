#include "cli/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/calendar.hpp"

namespace walsizer::cli {

const char* Name(Origin origin) {
    static constexpr const char* kNames[] = {"default", "log", "option", "server"};
    return kNames[static_cast<std::size_t>(origin)];
}

const char* Name(Cause cause) {
    static constexpr const char* kNames[] = {"wal", "time", "request", "recovery", "restartpoint", "unknown"};
    return kNames[static_cast<std::size_t>(cause)];
}

const char* Name(Action action) {
    static constexpr const char* kNames[] = {"keep", "raise", "not_applicable"};
    return kNames[static_cast<std::size_t>(action)];
}

const char* Name(Severity severity) {
    static constexpr const char* kNames[] = {"info", "notice", "warning"};
    return kNames[static_cast<std::size_t>(severity)];
}

std::string PrintTimeOfDay(const Instant& instant) {
    const Micros local = instant.at + instant.utc_offset * kSecond;
    const Micros second = ((local % kDay) + kDay) % kDay / kSecond;
    return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

std::string Print(const Instant& instant) {
    if (!instant.dated) return PrintTimeOfDay(instant);
    const Micros local = instant.at + instant.utc_offset * kSecond;
    const std::int64_t days = (local - (((local % kDay) + kDay) % kDay)) / kDay;
    const Date date = DateOf(days);
    return fmt::format("{:04}-{:02}-{:02} {}", date.year, date.month, date.day, PrintTimeOfDay(instant));
}

bool ServerAdvice::HasFinding() const {
    return recommendation.action == Action::kRaise ||
           std::any_of(findings.begin(), findings.end(),
                       [](const Finding& finding) { return finding.severity != Severity::kInfo; });
}

bool Advice::HasFinding() const {
    return std::any_of(servers.begin(), servers.end(),
                       [](const ServerAdvice& server) { return server.HasFinding(); });
}

CauseCounts Advice::Checkpoints() const {
    CauseCounts sum;
    for (const ServerAdvice& server : servers) sum.Add(server.checkpoints);
    return sum;
}

const ServerAdvice& Advice::Foremost() const {
    return *std::max_element(servers.begin(), servers.end(), [](const auto& left, const auto& right) {
        const auto rank = [](const ServerAdvice& server) {
            return std::tuple(server.recommendation.action, server.HasFinding(),
                              server.recommendation.need.size, server.checkpoints.total());
        };
        return rank(left) < rank(right);
    });
}

}  // namespace walsizer::cli
