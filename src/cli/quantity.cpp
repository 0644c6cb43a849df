#include "cli/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "walsizer/text.hpp"

namespace walsizer::cli {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t size;
};

constexpr Unit kSizes[] = {{"TB", 1024 * kGiB}, {"GB", kGiB}, {"MB", kMiB}, {"kB", kKiB}, {"B", 1}};
constexpr Unit kTimes[] = {{"d", 24 * kHour}, {"h", kHour},         {"min", kMinute},
                           {"s", kSecond},    {"ms", kMillisecond}, {"us", 1}};

template <std::size_t kCount>
std::string WholeUnits(std::int64_t value, const Unit (&units)[kCount]) {
    for (const Unit& unit : units)
        if (value != 0 && value % unit.size == 0) return fmt::format("{}{}", value / unit.size, unit.name);
    return "0";
}

template <std::size_t kCount>
bool Parse(std::string_view text, std::int64_t plain, const Unit (&units)[kCount], std::int64_t& result) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    if (digits == 0 || digits > 30) return false;
    const std::string number(text.substr(0, digits));
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (end == number.c_str() || *end != '\0') return false;
    text.remove_prefix(digits);
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    std::int64_t size = text.empty() ? plain : 0;
    for (const Unit& unit : units)
        if (unit.name == text) size = unit.size;
    const double product = value * static_cast<double>(size);
    if (size == 0 || !std::isfinite(product) || product > static_cast<double>(kLargestMaxWalSize))
        return false;
    result = std::llround(product);
    return true;
}

}  // namespace

std::string SizeSetting(Bytes size) {
    return WholeUnits(size, kSizes);
}

std::string TimeSetting(Micros time) {
    return WholeUnits(time, kTimes);
}

std::string SizeForPeople(double size) {
    return SizeText(static_cast<Bytes>(std::min(size, static_cast<double>(kLargestMaxWalSize)))).c_str();
}

std::string TimeForPeople(Micros time) {
    return DurationText(time).c_str();
}

bool ParseSize(std::string_view text, Bytes unit, Bytes& result) {
    return Parse(text, unit, kSizes, result);
}

bool ParseTime(std::string_view text, Micros unit, Micros& result) {
    return Parse(text, unit, kTimes, result);
}

}  // namespace walsizer::cli
