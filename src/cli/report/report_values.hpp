// Values as the page reads them, and what every page has.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/quantity.hpp"
#include "cli/server/local_time.hpp"
#include "walsizer/units.hpp"

namespace walsizer::cli {

using Json = nlohmann::ordered_json;

inline std::int64_t UnixMilliseconds(Timestamp at) {
    constexpr std::int64_t kEpoch = 946684800;  // 2000-01-01 in Unix time
    return at / kMillisecond + kEpoch * 1000;
}

inline Json Seconds(Micros time) {
    if (time < 0) return nullptr;
    return static_cast<double>(time) / kSecond;
}

inline std::string Size(Bytes size) {
    return size < 0 ? "unknown" : SizeForPeople(static_cast<double>(size));
}

inline std::string Percent(double share) {
    return share < 0 ? "none" : fmt::format("{:.0f} %", 100 * share);
}

// In front of a row's figures: a smaller size than the present one would have done at least this much.
inline const char* BoundSign(bool is_bound, const std::string& note) {
    if (!is_bound) return "";
    return note.find("at least") != std::string::npos ? "≥" : "≤";
}

inline Json Card(const std::string& label, const std::string& value, const std::string& note) {
    return {{"label", label}, {"value", value}, {"note", note}};
}

// All keys that the page reads, so that none is ever missing.
inline Json Empty(const std::string& title) {
    const Instant now = LocalInstant(TimestampNow());
    return {
        {"title", title},
        {"subtitle", ""},
        {"utc_offset", now.utc_offset},
        {"dated", true},
        {"from", nullptr},
        {"to", nullptr},
        {"size", -1},
        {"verdict", {{"title", ""}, {"raise", false}, {"texts", Json::array()}, {"lines", Json::array()}}},
        {"cards", Json::array()},
        {"checkpoints", Json::array()},
        {"windows", Json::array()},
        {"steps", Json::array()},
        {"what_if", Json::array()},
        {"what_if_unit", ""},
        {"what_if_hint", ""},
        {"findings", Json::array()},
        {"notes", Json::array()},
        {"footer", fmt::format("Written by walsizer {} on {}.", WALSIZER_VERSION, Print(now))}};
}

}  // namespace walsizer::cli
