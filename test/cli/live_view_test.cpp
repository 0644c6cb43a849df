#include "cli/show/live_view.hpp"

#include <gtest/gtest.h>

namespace walsizer::cli {
namespace {

LiveData Busy() {
    LiveData data;
    data.where = "db1.example.com:5432/shop, PostgreSQL 15.20";
    data.status.state = "tuning";
    data.status.reason = "one checkpoint_timeout saw at most 541 MB of WAL lately, which needs 1120 MB";
    data.status.max_wal_size = kGiB;
    data.status.trigger_size = 528 * kMiB;
    data.status.wal_since_redo = 264 * kMiB;
    data.status.wal_rate = 10.0 * kMiB;
    data.status.limited_by = "disk";
    for (int i = 0; i < 60; ++i) {
        data.rates.push_back(i * 1e6);
        ExtensionCheckpoint checkpoint;
        checkpoint.cause = i % 3 == 0 ? "wal" : "time";
        checkpoint.wal_bytes = 100 * kMiB;
        data.checkpoints.push_back(checkpoint);
        ExtensionDecision decision;
        decision.action = "grow";
        decision.old_size = kGiB;
        decision.new_size = 2 * kGiB;
        decision.reason = std::string(300, 'x');
        data.decisions.push_back(decision);
    }
    return data;
}

TEST(LiveView, FitsEveryTerminal) {
    const LiveData data = Busy();
    for (const std::size_t columns : {60u, 79u, 80u, 132u, 300u}) {
        for (const std::size_t lines : {1u, 5u, 12u, 24u, 60u}) {
            for (const bool utf8 : {true, false}) {
                const auto screen = DrawLive(data, {columns, lines}, Glyphs(utf8), Style(true));
                EXPECT_EQ(screen.size(), lines);
                for (const std::string& line : screen) EXPECT_LE(DisplayWidth(line), columns) << line;
            }
        }
    }
}

TEST(LiveView, TellsTheRaceInWords) {
    const auto screen = DrawLive(Busy(), {80, 24}, Glyphs(false), Style(false));
    std::string all;
    for (const std::string& line : screen) all += line + "\n";
    EXPECT_NE(all.find("50 %  264 MB of 528 MB"), std::string::npos) << all;
    EXPECT_NE(all.find("trigger reached in 0:26 at 10 MB/s"), std::string::npos) << all;
    EXPECT_NE(all.find("20 of 60 forced"), std::string::npos) << all;
    EXPECT_NE(all.find("WTTWTT"), std::string::npos) << all;
}

TEST(LiveView, AsciiWhereTheLocaleHasNoUtf8) {
    for (const std::string& line : DrawLive(Busy(), {80, 24}, Glyphs(false), Style(false)))
        for (const char c : line) EXPECT_GE(c, ' ') << line;
}

TEST(LiveView, ShowsThatTheConnectionIsLost) {
    LiveData data = Busy();
    data.trouble = "server closed the connection";
    const auto screen = DrawLive(data, {80, 24}, Glyphs(true), Style(false));
    EXPECT_NE(screen.back().find("no connection, trying again: server closed"), std::string::npos);
}

TEST(LiveView, SaysWhyThereIsNothingToShow) {
    LiveData data;
    data.status.state = "inactive";
    data.status.reason = "pg_walsizer is preloaded as well";
    const auto screen = DrawLive(data, {80, 24}, Glyphs(true), Style(false));
    EXPECT_NE(screen[3].find("pg_walsizer"), std::string::npos);
}

TEST(Glyphs, SparklineIsRelativeToItsLargest) {
    EXPECT_EQ(Glyphs(false).Sparkline({0, 5, 10}, 10), "_=#");
    EXPECT_EQ(Glyphs(false).Sparkline({1, 2, 3, 4}, 2), "+#");
    EXPECT_EQ(Glyphs(false).Sparkline({}, 5), "");
    EXPECT_EQ(Glyphs(false).Sparkline({0, 0}, 5), "__");
}

TEST(Glyphs, FitCutsWholeCharacters) {
    EXPECT_EQ(Glyphs(true).Fit("größer", 4), "grö…");
    EXPECT_EQ(Glyphs(false).Fit("abcdefgh", 6), "abc...");
    EXPECT_EQ(Glyphs(true).Fit("abc", 3), "abc");
}

}  // namespace
}  // namespace walsizer::cli
