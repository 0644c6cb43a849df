#include "walsizer/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walsizer {
namespace {

std::string Size(Bytes size) {
    return SizeText(size).c_str();
}
std::string Duration(Micros duration) {
    return DurationText(duration).c_str();
}

TEST(Text, TruncatesInsteadOfOverflowingAndStaysTerminated) {
    Text<8> text;
    text.Set("%s", "123456789");
    EXPECT_STREQ(text.c_str(), "1234567");
    text.Append("%s", "x");
    EXPECT_STREQ(text.c_str(), "1234567");
    text.Set("%s", "1234567");
    EXPECT_STREQ(text.c_str(), "1234567");
}

TEST(Text, AppendsWhereTheTextEndsAndTruncatesThere) {
    Text<8> text;
    text.Set("%s", "abc");
    text.Append("%d", 12).Append("%s", "zzzz");
    EXPECT_STREQ(text.c_str(), "abc12zz");
}

TEST(Text, AnEmptyTextIsEmptyAgainAfterClear) {
    Text<8> text;
    EXPECT_TRUE(text.empty());
    text.Set("x");
    EXPECT_FALSE(text.empty());
    text.clear();
    EXPECT_TRUE(text.empty());
}

TEST(Text, BytesFromAFileWithoutAnEndAreEndedByTerminate) {
    Text<8> text;
    std::fill_n(reinterpret_cast<char*>(&text), sizeof text, 'x');
    text.Terminate();
    EXPECT_STREQ(text.c_str(), "xxxxxxx");
    text.Append("%s", "y");
    EXPECT_STREQ(text.c_str(), "xxxxxxx");
}

TEST(Text, TheSmallestCapacityHoldsNothingAndSurvives) {
    Text<1> text;
    text.Set("%s", "abc").Append("%s", "def");
    EXPECT_STREQ(text.c_str(), "");
}

TEST(SizeText, WritesSizesAsADbaDoes) {
    EXPECT_EQ(Size(0), "0 kB");
    EXPECT_EQ(Size(1), "1 kB");
    EXPECT_EQ(Size(540672 * kKiB), "528 MB");
    EXPECT_EQ(Size(kMiB), "1 MB");
    EXPECT_EQ(Size(1536 * kKiB), "1.5 MB");
    EXPECT_EQ(Size(16 * kMiB), "16 MB");
    EXPECT_EQ(Size(100 * kMiB + kMiB / 2), "101 MB");
    EXPECT_EQ(Size(6246 * kMiB + kKiB), "6.1 GB");
}

TEST(SizeText, KeepsWholeMegabytesBelowTenGigabytes) {
    EXPECT_EQ(Size(kGiB), "1024 MB");
    EXPECT_EQ(Size(2 * kGiB), "2048 MB");
    EXPECT_EQ(Size(6246 * kMiB), "6246 MB");
    EXPECT_EQ(Size(10 * kGiB), "10.0 GB");
    EXPECT_EQ(Size(171 * kGiB), "171.0 GB");
}

TEST(SizeText, HoldsTheLargestSizes) {
    EXPECT_EQ(Size(kLargestMaxWalSize), "2097152.0 GB");
    EXPECT_NE(Size(INT64_MAX), "");
}

// The examples in text.hpp.
TEST(DurationText, WritesSecondsMinutesAndHoursAsItsHeaderSays) {
    EXPECT_EQ(Duration(2500 * kMillisecond), "2.5 s");
    EXPECT_EQ(Duration(281 * kSecond), "281 s");
    EXPECT_EQ(Duration(15 * kMinute), "15:00");
    EXPECT_EQ(Duration(2 * kHour + 5 * kMinute), "2:05:00");
}

TEST(ClockText, ShowsAProgressAsOnAClock) {
    EXPECT_STREQ(ClockText(40 * kSecond).c_str(), "0:40");
    EXPECT_STREQ(ClockText(5 * kMinute).c_str(), "5:00");
    EXPECT_STREQ(ClockText(2 * kHour + 5 * kMinute).c_str(), "2:05:00");
    EXPECT_STREQ(ClockText(-1).c_str(), "0:00");
    EXPECT_STRNE(ClockText(INT64_MAX).c_str(), "");
}

TEST(DurationText, ShowsTenthsWhereSecondsAreFew) {
    EXPECT_EQ(Duration(0), "0.0 s");
    EXPECT_EQ(Duration(300 * kMillisecond), "0.3 s");
    EXPECT_EQ(Duration(-5 * kSecond), "0.0 s");
    EXPECT_EQ(Duration(10 * kSecond), "10 s");
}

TEST(DurationText, HoldsTheLargestDuration) {
    EXPECT_NE(Duration(INT64_MAX), "");
}

}  // namespace
}  // namespace walsizer
