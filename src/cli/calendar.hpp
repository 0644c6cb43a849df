// Dates of the Gregorian calendar. libstdc++ has them from gcc 11 on, and Debian 11 has gcc 10.
#pragma once

#include <cstdint>

#include "walsizer/units.hpp"

namespace walsizer::cli {

struct Date {
    int year;
    int month;  // 1..12
    int day;    // 1..31
};

inline constexpr Micros kDay = 24 * kHour;

// Days since 2000-01-01, PostgreSQL's epoch. Years are counted from March, so that the leap day is the last.
constexpr std::int64_t DaysOf(const Date& date) {
    const std::int64_t year = date.year - (date.month <= 2 ? 1 : 0);
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t of_era = year - era * 400;
    const std::int64_t of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730425;
}

constexpr Date DateOf(std::int64_t days) {
    days += 730425;
    const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const std::int64_t of_era = days - era * 146097;
    const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const std::int64_t shifted = (5 * of_year + 2) / 153;
    const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
    return {static_cast<int>(year + era * 400 + (month <= 2 ? 1 : 0)), month,
            static_cast<int>(of_year - (153 * shifted + 2) / 5 + 1)};
}

static_assert(DaysOf({2000, 1, 1}) == 0 && DaysOf({1970, 1, 1}) == -10957);

}  // namespace walsizer::cli
