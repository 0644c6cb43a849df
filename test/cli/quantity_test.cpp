#include "cli/quantity.hpp"

#include <gtest/gtest.h>

#include "cli/advice.hpp"
#include "cli/calendar.hpp"

namespace walsizer::cli {
namespace {

TEST(Quantity, PrintsSettingsAsShowDoes) {
    EXPECT_EQ(SizeSetting(kGiB), "1GB");
    EXPECT_EQ(SizeSetting(1536 * kMiB), "1536MB");
    EXPECT_EQ(SizeSetting(2048 * kGiB), "2TB");
    EXPECT_EQ(SizeSetting(49243 * kKiB), "49243kB");
    EXPECT_EQ(TimeSetting(5 * kMinute), "5min");
    EXPECT_EQ(TimeSetting(330 * kSecond), "330s");
    EXPECT_EQ(TimeSetting(0), "0");
}

TEST(Quantity, ReadsWhatPostgresqlConfHolds) {
    Bytes size = 0;
    EXPECT_TRUE(ParseSize("16GB", kMiB, size));
    EXPECT_EQ(size, 16 * kGiB);
    EXPECT_TRUE(ParseSize(" 1024 ", kMiB, size));
    EXPECT_EQ(size, kGiB);
    EXPECT_TRUE(ParseSize("1.5 GB", kMiB, size));
    EXPECT_EQ(size, 1536 * kMiB);
    Micros time = 0;
    EXPECT_TRUE(ParseTime("15min", kSecond, time));
    EXPECT_EQ(time, 15 * kMinute);
    EXPECT_TRUE(ParseTime("300", kSecond, time));
    EXPECT_EQ(time, 5 * kMinute);
}

TEST(Quantity, RefusesTheRestAndLeavesTheResultAlone) {
    Bytes size = 42;
    for (const char* text : {"", "GB", "-1GB", "1GiB", "1gb", "1.2.3GB", "9e99", "99999999999999TB", "1GB x"})
        EXPECT_FALSE(ParseSize(text, kMiB, size)) << text;
    EXPECT_EQ(size, 42);
}

TEST(Calendar, GoesThereAndBackOverLeapYears) {
    EXPECT_EQ(DaysOf({2000, 3, 1}) - DaysOf({2000, 2, 28}), 2);
    EXPECT_EQ(DaysOf({2100, 3, 1}) - DaysOf({2100, 2, 28}), 1);
    for (std::int64_t day = DaysOf({1970, 1, 1}); day < DaysOf({2110, 1, 1}); ++day) {
        const Date date = DateOf(day);
        ASSERT_EQ(DaysOf(date), day);
        ASSERT_TRUE(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
    }
}

TEST(Instant, PrintsAsItWasWritten) {
    const Timestamp at = DaysOf({2026, 7, 18}) * kDay + 12 * kHour + 3 * kMinute + 59 * kSecond;
    EXPECT_EQ(Print({at, 0}), "2026-07-18 12:03:59");
    EXPECT_EQ(Print({at, -4 * 3600}), "2026-07-18 08:03:59");
    EXPECT_EQ(Print({DaysOf({1999, 12, 31}) * kDay, 0}), "1999-12-31 00:00:00");
    EXPECT_EQ(Print({kHour, 0, false}), "01:00:00");
}

}  // namespace
}  // namespace walsizer::cli
