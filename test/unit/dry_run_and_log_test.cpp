#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

TEST(DryRun, DecidesAgainstAVirtualSizeAndAppliesNothing) {
    for (bool anticipate : {true, false}) {
        Rig rig;
        rig.settings.dry_run = true;
        rig.settings.anticipate = anticipate;
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 256 * kMiB;
        rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
        rig.Run(10 * kMinute);
        EXPECT_TRUE(rig.sets.empty());
        EXPECT_EQ(rig.size(), 256 * kMiB);
        EXPECT_EQ(rig.tuner.state(), State::kDryRun);
        EXPECT_FALSE(rig.tuner.original().known);
        EXPECT_EQ(rig.totals.raised, 0);
        EXPECT_GE(rig.server.Count(Why::kWal), 50) << "the real server goes on being forced";
        const Bytes need = SizeForDistance(MB(1200), rig.server.settings);
        EXPECT_GE(static_cast<double>(rig.tuner.working_size()), MB(1200) * 1.9) << anticipate;
        EXPECT_LE(static_cast<double>(rig.tuner.working_size()), 1.5 * static_cast<double>(need))
            << anticipate;
        const int raises = rig.Decisions(Action::kGrow);
        EXPECT_GE(raises, 2);
        EXPECT_LE(raises, 6);
        Bytes virtual_size = 256 * kMiB;
        for (std::uint32_t age = rig.journal.decisions.size(); age-- > 0;) {
            const DecisionRecord& row = rig.journal.decisions.Newest(age);
            if (row.action != Action::kGrow) continue;
            EXPECT_EQ(row.outcome, Outcome::kDryRun);
            EXPECT_EQ(row.old_size, virtual_size);
            virtual_size = row.new_size;
        }
    }
}

TEST(DryRun, IdleTicksRestartTheVirtualTimerToo) {
    Rig rig;
    rig.settings.dry_run = true;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.Run(210 * kSecond);
    const Micros left = rig.tuner.race().timer_left;
    rig.settings.dry_run = false;
    rig.Run(kSecond);
    EXPECT_NEAR(static_cast<double>(left), static_cast<double>(rig.tuner.race().timer_left), 2.1 * kSecond);
}

TEST(DryRun, StartsAnewFromAValueThatSomebodySets) {
    Rig rig;
    rig.settings.dry_run = true;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.load = [](double second) { return Load{second < 60 ? MB(20) : 0, 0, 1}; };
    rig.Run(2 * kMinute);
    ASSERT_GT(rig.tuner.working_size(), 128 * kMiB);
    rig.server.ReloadAt(rig.server.now, 8 * kGiB);
    rig.Run(5 * kSecond);
    EXPECT_EQ(rig.tuner.working_size(), 8 * kGiB);
}

TEST(DryRun, SwitchedOffGoesBackToTheRealSizeAndActs) {
    Rig rig;
    rig.settings.dry_run = true;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
    rig.Run(2 * kMinute);
    rig.settings.dry_run = false;
    rig.Run(3 * kMinute);
    EXPECT_GE(static_cast<double>(rig.size()), MB(1200) * 1.9);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    EXPECT_EQ(rig.tuner.original().size, 128 * kMiB);
}

// A '#' in the pattern stands for a number, e.g. 17 or 2.5.
bool Matches(const char* pattern, const char* text) {
    for (; *pattern != '\0'; ++pattern) {
        if (*pattern != '#') {
            if (*pattern != *text++) return false;
            continue;
        }
        const char* begin = text;
        while ((*text >= '0' && *text <= '9') || *text == '.') ++text;
        if (text == begin) return false;
    }
    return *text == '\0';
}

std::string FirstLine(const Rig& rig) {
    return rig.log.empty() ? "" : rig.log.front().message.c_str();
}

TEST(LogLine, OfAnAnticipatedRaiseHasItsEvidenceInOneSentence) {
    Rig rig;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(40), 0, 1}; };
    rig.Run(13 * kSecond);
    ASSERT_FALSE(rig.log.empty());
    EXPECT_FALSE(rig.log.front().warning);
    EXPECT_TRUE(
        Matches("walsizer raises max_wal_size from 1024 MB to 2048 MB: # MB of WAL in # s would force a "
                "checkpoint before the timer (trigger 528 MB, timer in # s)",
                FirstLine(rig).c_str()))
        << FirstLine(rig);
    EXPECT_STREQ(rig.LastDecision().reason.c_str(),
                 FirstLine(rig).substr(FirstLine(rig).find(": ") + 2).c_str());
}

TEST(LogLine, OfADryRunSaysWould) {
    Rig rig;
    rig.settings.dry_run = true;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(40), 0, 1}; };
    rig.Run(13 * kSecond);
    EXPECT_EQ(FirstLine(rig).find("walsizer would raise max_wal_size from 1024 MB to 2048 MB: "), 0U)
        << FirstLine(rig);
}

TEST(LogLine, OfAThresholdRaiseCountsTheForcedOnes) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(40), 0, 1}; };
    rig.Run(30 * kSecond);
    EXPECT_TRUE(Matches(
        "walsizer raises max_wal_size from 1024 MB to # MB: WAL forced 2 checkpoints within one "
        "checkpoint_timeout of 60 s (threshold 2); the last after 528 MB of WAL in 13 s (trigger 528 MB)",
        FirstLine(rig).c_str()))
        << FirstLine(rig);
}

TEST(LogLine, OfARatioRaiseTellsTheShare) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.server.settings.checkpoint_timeout = 5 * kMinute;
    rig.server.load = [](double) { return Load{1.02 * MB(528) / 300, 0, 1}; };
    rig.Run(15 * kMinute + 10 * kSecond);
    EXPECT_TRUE(
        Matches("walsizer raises max_wal_size from 1024 MB to # MB: WAL forced # of the last # checkpoints "
                "(accepted share 10 %); the last after 528 MB of WAL in 294 s (trigger 528 MB)",
                FirstLine(rig).c_str()))
        << FirstLine(rig);
}

TEST(LogLine, EveryMessageNamesWalsizer) {
    Rig rig;
    rig.settings.max = 2 * kGiB;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(40), 0, 1}; };
    rig.Run(3 * kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(5 * kSecond);
    rig.Ask(CommandKind::kResume);
    rig.server.ReloadAt(rig.server.now, 512 * kMiB);
    rig.Run(5 * kSecond);
    rig.server.ReloadAt(rig.server.now, 768 * kMiB);
    rig.Run(5 * kSecond);
    rig.Ask(CommandKind::kReset);
    EXPECT_GE(rig.log.size(), 6U);
    for (const LogLine& line : rig.log)
        EXPECT_EQ(std::string(line.message.c_str()).find("walsizer"), 0U) << line.message.c_str();
}

TEST(LogLine, MoreNewsThanPlacesKeepsTheNewest) {
    Orders orders;
    for (int i = 0; i < 6; ++i) orders.AddLog(i == 5)->message.Set("line %d", i);
    EXPECT_EQ(orders.log_count, Orders::kLogLines);
    EXPECT_STREQ(orders.log[0].message.c_str(), "line 0");
    EXPECT_STREQ(orders.log[Orders::kLogLines - 1].message.c_str(), "line 5");
    EXPECT_TRUE(orders.log[Orders::kLogLines - 1].warning);
}

TEST(StateReason, InMinuteOneTellsHowLongItHasWatched) {
    Rig rig;
    EXPECT_STREQ(rig.tuner.StateReason(rig.journal).c_str(), "the first look is still to come");
    rig.server.load = [](double) { return Load{MB(1), 0, 1}; };
    rig.Run(40 * kSecond);
    EXPECT_STREQ(rig.tuner.StateReason(rig.journal).c_str(), "watching for 0:40 of 5:00");
}

}  // namespace
}  // namespace walsizer::test
