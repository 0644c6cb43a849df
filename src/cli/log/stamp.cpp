#include "cli/log/stamp.hpp"

#include <re2/re2.h>

#include <charconv>
#include <string>

#include "cli/calendar.hpp"

namespace walsizer::cli {

namespace {

Timestamp year_clock = DaysOf({2026, 1, 1}) * kDay;

struct Zone {
    std::string_view name;
    int hours;
};
// The daylight saving pairs: within one log the step between them must not look like a jump. Where a name
// has two meanings the pair of the same region is taken; only differences matter.
constexpr Zone kZones[] = {{"UTC", 0},  {"GMT", 0},  {"Z", 0},     {"WET", 0},   {"WEST", 1}, {"BST", 1},
                           {"CET", 1},  {"CEST", 2}, {"EET", 2},   {"EEST", 3},  {"MSK", 3},  {"MSD", 4},
                           {"JST", 9},  {"KST", 9},  {"AEST", 10}, {"AEDT", 11}, {"EST", -5}, {"EDT", -4},
                           {"CST", -6}, {"CDT", -5}, {"MST", -7},  {"MDT", -6},  {"PST", -8}, {"PDT", -7}};

int Integer(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::int32_t OffsetOf(std::string_view zone) {
    for (const Zone& known : kZones)
        if (known.name == zone) return known.hours * 3600;
    if (zone.size() < 3 || (zone[0] != '+' && zone[0] != '-')) return 0;
    const int sign = zone[0] == '-' ? -1 : 1;
    const int hours = Integer(zone.substr(1, 2));
    const std::size_t minutes_at = zone.size() > 3 && zone[3] == ':' ? 4 : 3;
    const int minutes = minutes_at < zone.size() ? Integer(zone.substr(minutes_at, 2)) : 0;
    return hours > 15 ? 0 : sign * (hours * 3600 + minutes * 60);
}

Micros Fraction(std::string_view digits) {
    Micros value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    return value;
}

struct Clock {
    std::string hour, minute, second, fraction;
    bool valid() const { return Integer(hour) < 24 && Integer(minute) < 60 && Integer(second) < 61; }
    Micros micros() const {
        return Integer(hour) * kHour + Integer(minute) * kMinute + Integer(second) * kSecond +
               Fraction(fraction);
    }
};

using Piece = re2::StringPiece;

// Where the whole match, which is the pattern's first group, lies in the text.
void Locate(const Piece& whole, std::string_view text, FoundStamp& found) {
    found.begin = static_cast<std::size_t>(whole.data() - text.data());
    found.end = found.begin + whole.size();
}

std::optional<FoundStamp> FindDated(std::string_view text, bool with_space) {
    static const RE2 kSpace(
        R"(((\d{4})[-/](\d\d)[-/](\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?([A-Z]{1,5}\b|[+-]\d\d(?::?\d\d)?))?))");
    static const RE2 kT(
        R"(((\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?))");
    Piece whole;
    std::string year, month, day, zone;
    Clock clock;
    if (!RE2::PartialMatch(Piece(text.data(), text.size()), with_space ? kSpace : kT, &whole, &year, &month,
                           &day, &clock.hour, &clock.minute, &clock.second, &clock.fraction, &zone))
        return {};
    const Date date = {Integer(year), Integer(month), Integer(day)};
    if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31 || date.year < 1990 ||
        !clock.valid())
        return {};
    FoundStamp found;
    Locate(whole, text, found);
    found.instant.utc_offset = OffsetOf(zone);
    found.instant.at = DaysOf(date) * kDay + clock.micros() - found.instant.utc_offset * kSecond;
    return found;
}

std::optional<FoundStamp> FindEpoch(std::string_view text) {
    static const RE2 kEpoch(R"(\b((\d{10})\.(\d{3}))\b)");
    Piece whole;
    std::string seconds, fraction;
    if (!RE2::PartialMatch(Piece(text.data(), text.size()), kEpoch, &whole, &seconds, &fraction)) return {};
    FoundStamp found;
    Locate(whole, text, found);
    std::int64_t value = 0;
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    found.instant.at = DaysOf({1970, 1, 1}) * kDay + value * kSecond + Fraction(fraction);
    return found;
}

std::optional<FoundStamp> FindSyslog(std::string_view text) {
    static const RE2 kSyslog(
        R"(((Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) (\d\d):(\d\d):(\d\d)))");
    static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    Piece whole;
    std::string month, day;
    Clock clock;
    if (!RE2::PartialMatch(Piece(text.data(), text.size()), kSyslog, &whole, &month, &day, &clock.hour,
                           &clock.minute, &clock.second) ||
        !clock.valid() || Integer(day) < 1 || Integer(day) > 31)
        return {};
    FoundStamp found;
    Locate(whole, text, found);
    const std::int64_t today = year_clock / kDay;
    Date date = {DateOf(today).year, static_cast<int>(kMonths.find(month) / 3) + 1, Integer(day)};
    if (DaysOf(date) > today + 1) --date.year;
    found.instant.at = DaysOf(date) * kDay + clock.micros();
    return found;
}

std::optional<FoundStamp> FindTimeOfDay(std::string_view text) {
    static const RE2 kTime(R"(\b((\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?)\b)");
    Piece whole;
    Clock clock;
    if (!RE2::PartialMatch(Piece(text.data(), text.size()), kTime, &whole, &clock.hour, &clock.minute,
                           &clock.second, &clock.fraction) ||
        !clock.valid())
        return {};
    FoundStamp found;
    Locate(whole, text, found);
    found.instant.at = clock.micros();
    found.instant.dated = false;
    return found;
}

}  // namespace

void SetClockForYears(Timestamp now) {
    year_clock = now;
}

std::optional<FoundStamp> FindStamp(std::string_view prefix) {
    if (auto found = FindDated(prefix, true)) return found;
    if (auto found = FindDated(prefix, false)) return found;
    if (auto found = FindEpoch(prefix)) return found;
    if (auto found = FindSyslog(prefix)) return found;
    return FindTimeOfDay(prefix);
}

}  // namespace walsizer::cli
