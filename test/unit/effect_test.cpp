// What a change brought, judged from a journal written by hand, and once from a life.
#include "walsizer/effect.hpp"

#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

constexpr Timestamp kNoon = kWallAtStart;
constexpr Micros kTimeout = 5 * kMinute;

class EffectOfChange : public testing::Test {
  protected:
    // A window of five minutes from `start` on, `minutes` after noon.
    WindowRecord& Window(double minutes, std::int64_t timed, std::int64_t forced, double mb_per_second) {
        WindowRecord window;
        window.start = kNoon + static_cast<Timestamp>(minutes * kMinute);
        window.end = window.start + kTimeout;
        window.length = window.timeout = kTimeout;
        window.checkpoints = {timed, forced, forced, 0};
        window.wal_bytes = static_cast<Bytes>(MB(mb_per_second) * 300);
        window.write_time = 1000.0 * static_cast<double>(timed + forced);
        window.sync_time = 20.0 * static_cast<double>(timed + forced);
        rig.journal.windows.Push(window);
        return rig.journal.windows.Newest(0);
    }
    DecisionRecord& Change(double minutes, Bytes from, Bytes to) {
        DecisionRecord decision;
        decision.id = ++rig.totals.decisions;
        decision.decided_at = kNoon + static_cast<Timestamp>(minutes * kMinute);
        decision.action = to > from ? Action::kGrow : Action::kShrink;
        decision.old_size = from;
        decision.new_size = to;
        decision.outcome = Outcome::kEffective;
        rig.journal.decisions.Push(decision);
        return rig.journal.decisions.Newest(0);
    }
    Effect Judge(double now_minutes, std::uint32_t age = 0) {
        const Timestamp now = kNoon + static_cast<Timestamp>(now_minutes * kMinute);
        const Timestamp open = kNoon + (now - kNoon) / kTimeout * kTimeout;
        return EffectOf({rig.journal, now, open, open + kTimeout}, age);
    }
    static std::string Verdict(const Effect& effect) { return effect.verdict.c_str(); }

    Rig rig;
};

TEST_F(EffectOfChange, TellsForcedCheckpointsAndWalPerTransactionBeforeAndAfter) {
    WindowRecord& before = Window(0, 0, 12, 8.8);
    before.xids = 300000;
    Change(5, kGiB, 4 * kGiB);
    WindowRecord& after = Window(5, 1, 0, 3.4);
    after.xids = 300000;
    const Effect effect = Judge(12);
    ASSERT_TRUE(effect.applied);
    EXPECT_EQ(
        Verdict(effect),
        "forced checkpoints fell from 12 in 5:00 to 0 in 5:00; WAL per transaction 9.0 kB to 3.5 kB (-61 %)");
    EXPECT_EQ(effect.before.checkpoints.wal_forced, 12);
    EXPECT_EQ(effect.before.TimePerCheckpoint(), 25 * kSecond);
    EXPECT_EQ(effect.after.TimePerCheckpoint(), kTimeout);
    EXPECT_EQ(effect.after.start, kNoon + 5 * kMinute);
}

TEST_F(EffectOfChange, SaysWhenItIsTooEarlyAndWhenItWillNotBe) {
    Window(0, 0, 12, 8);
    Change(6, kGiB, 4 * kGiB);
    Window(5, 1, 3, 5);  // the window of the change is neither before nor after
    EXPECT_EQ(Verdict(Judge(11 + 2.0 / 3)), "too early: the first whole window after the raise ends in 3:20");
    EXPECT_EQ(Verdict(Judge(7)), "too early: the first whole window after the raise ends in 8:00");
    Window(10, 1, 0, 8);
    EXPECT_EQ(Verdict(Judge(16)), "forced checkpoints fell from 12 in 5:00 to 0 in 5:00");
}

TEST_F(EffectOfChange, DoesNotCompareLoadsThatDifferTooMuch) {
    Window(0, 1, 0, 0.3);
    Change(5, kGiB, 4 * kGiB);
    Window(5, 1, 0, 4.1);
    EXPECT_EQ(Verdict(Judge(12)),
              "no forced checkpoint in the 5:00 after (4.1 MB/s of WAL); load differs too much to compare: "
              "0.3 MB/s before, 4.1 MB/s after");
}

// The same WAL per second, but of other transactions: one nightly load against many small ones.
TEST_F(EffectOfChange, DoesNotComparePerTransactionWhatOtherTransactionsWrote) {
    Window(0, 1, 2, 4).xids = 200;
    Change(5, kGiB, 4 * kGiB);
    Window(5, 1, 0, 4).xids = 300000;
    EXPECT_NE(Verdict(Judge(12)).find("load differs too much to compare: 1 against 1000 transactions/s"),
              std::string::npos)
        << Verdict(Judge(12));
}

// At the boundary: twice the transactions is the same load still, a little more is not.
TEST_F(EffectOfChange, TwiceTheTransactionsIsTheSameLoadAndMoreIsNot) {
    Window(0, 0, 4, 4).xids = 100000;
    Change(5, kGiB, 4 * kGiB);
    WindowRecord& after = Window(5, 1, 0, 4);
    after.xids = 200000;
    EXPECT_EQ(Verdict(Judge(12)).find("load differs"), std::string::npos) << Verdict(Judge(12));
    after.xids = 200400;
    EXPECT_NE(Verdict(Judge(12)).find("load differs"), std::string::npos) << Verdict(Judge(12));
}

TEST_F(EffectOfChange, FewTransactionsHaveNoTypicalSize) {
    Window(0, 0, 4, 4).xids = 99;
    Change(5, kGiB, 4 * kGiB);
    Window(5, 1, 0, 4).xids = 99;
    EXPECT_EQ(Verdict(Judge(12)), "forced checkpoints fell from 4 in 5:00 to 0 in 5:00");
    EXPECT_EQ(Judge(12).after.WalPerTransaction(), -1);
}

// What a statement wrote is known when it ends: a share of figures that do not cover the WAL is no share.
TEST_F(EffectOfChange, TellsFullPageImagesOnlyWhereTheStatisticsCoverTheWal) {
    WindowRecord& before = Window(0, 0, 4, 4);
    before.xids = 1000;
    before.stat_bytes = before.wal_bytes;
    before.fpi_bytes = before.wal_bytes * 6 / 10;
    Change(5, kGiB, 4 * kGiB);
    WindowRecord& after = Window(5, 1, 0, 2.5);
    after.xids = 1000;
    after.stat_bytes = after.wal_bytes * 8 / 10;
    after.fpi_bytes = after.stat_bytes / 4;
    EXPECT_NEAR(Judge(12).before.FpiShare(), 0.6, 0.01);
    EXPECT_NE(Verdict(Judge(12)).find("%), its full-page images -74 %"), std::string::npos)
        << Verdict(Judge(12));
    after.stat_bytes = after.wal_bytes * 79 / 100;
    EXPECT_EQ(Judge(12).after.FpiShare(), -1);
    EXPECT_EQ(Verdict(Judge(12)).find("full-page"), std::string::npos);
}

TEST_F(EffectOfChange, SeveralRaisesWithinAWindowAreJudgedTogetherAtTheLast) {
    Window(0, 0, 12, 8);
    Change(6, 64 * kMiB, 128 * kMiB);
    Change(6.1, 128 * kMiB, 256 * kMiB);
    Change(6.35, 256 * kMiB, kGiB);
    EXPECT_EQ(Verdict(Judge(7)),
              "too early: the first whole window after 3 raises in 0:21 (64 MB to 1024 MB) ends in 8:00");
    Window(5, 0, 2, 8);
    Window(10, 1, 0, 8);
    const Effect last = Judge(16);
    EXPECT_EQ(last.changes, 3U);
    EXPECT_EQ(last.before.checkpoints.wal_forced, 12);
    EXPECT_EQ(Verdict(last),
              "3 raises in 0:21 (64 MB to 1024 MB): forced checkpoints fell from 12 in 5:00 to 0 in 5:00");
    for (std::uint32_t age : {1U, 2U}) {
        const Effect other = Judge(16, age);
        EXPECT_TRUE(other.applied);
        EXPECT_FALSE(other.before.recorded());
        EXPECT_EQ(Verdict(other),
                  "one of 3 raises in 0:21 (64 MB to 1024 MB): judged together, at decision 3");
    }
}

TEST_F(EffectOfChange, ARaiseAndALoweringAreChanges) {
    Change(6, kGiB, 2 * kGiB);
    Change(6.5, 2 * kGiB, kGiB);
    EXPECT_EQ(Verdict(Judge(7)),
              "too early: the first whole window after 2 changes in 0:30 (1024 MB to 1024 MB) ends in 8:00");
}

TEST_F(EffectOfChange, RaisesWithAWholeWindowBetweenThemHaveTheirOwnEffects) {
    Window(0, 0, 12, 8);
    Change(5, kGiB, 2 * kGiB);
    Window(5, 0, 6, 8);
    Change(10, 2 * kGiB, 4 * kGiB);
    Window(10, 1, 0, 8);
    EXPECT_EQ(Verdict(Judge(16, 1)), "forced checkpoints fell from 12 in 5:00 to 6 in 5:00");
    EXPECT_EQ(Verdict(Judge(16, 0)), "forced checkpoints fell from 6 in 5:00 to 0 in 5:00");
}

TEST_F(EffectOfChange, TakesUpToThreeWindowsOnEachSideAndNoneBeyondTheNextChange) {
    for (int i = 0; i < 5; ++i) Window(5 * i, 0, 10, 8);
    Change(25, kGiB, 2 * kGiB);
    for (int i = 5; i < 7; ++i) Window(5 * i, 0, 2, 8);
    Change(35, 2 * kGiB, 4 * kGiB);
    for (int i = 7; i < 12; ++i) Window(5 * i, 1, 0, 8);
    EXPECT_EQ(Verdict(Judge(61, 1)), "forced checkpoints fell from 30 in 15:00 to 4 in 10:00");
    EXPECT_EQ(Verdict(Judge(61, 0)), "forced checkpoints fell from 4 in 10:00 to 0 in 15:00");
}

// The load began in the middle of a window: what that window saw until the raise is the better before.
TEST_F(EffectOfChange, TheWindowOfTheChangeSpeaksWhereTheOneBeforeSawAnotherLoad) {
    Window(0, 1, 0, 0.01);
    DecisionRecord& raise = Change(7, kGiB, 4 * kGiB);
    raise.checkpoints = {0, 3, 3, 0};
    raise.window = {2 * kMinute, static_cast<Bytes>(MB(8) * 120), -1, -1, -1};
    Window(5, 1, 3, 6);
    Window(10, 1, 0, 4);
    EXPECT_EQ(Verdict(Judge(16)), "forced checkpoints fell from 3 in 2:00 to 0 in 5:00");
    raise.window.length = 59 * kSecond;  // too short a part says nothing
    EXPECT_NE(Verdict(Judge(16)).find("load differs"), std::string::npos) << Verdict(Judge(16));
}

TEST_F(EffectOfChange, WithoutAWindowBeforeItTellsWhatHoldsSince) {
    Change(0, kGiB, 4 * kGiB);
    Window(0, 1, 0, 4).xids = 300000;
    EXPECT_EQ(Verdict(Judge(6)),
              "no forced checkpoint in the 5:00 after (4.0 MB/s of WAL, 4.1 kB per transaction); nothing was "
              "recorded before the raise to compare with");
}

// Its counters are noise: a time of 0 ms would be a figure that nobody measured.
TEST_F(EffectOfChange, AStandbyHasNoWriteTimes) {
    Window(0, 0, 0, 8).in_recovery = true;
    Change(5, kGiB, 4 * kGiB);
    Window(5, 1, 0, 8);
    const Effect effect = Judge(12);
    EXPECT_EQ(effect.before.write_time, -1);
    EXPECT_EQ(effect.before.sync_time, -1);
    EXPECT_EQ(effect.after.write_time, 1000);
    EXPECT_EQ(effect.after.sync_time, 20);
}

TEST_F(EffectOfChange, AnIdleServerProvesNothing) {
    Window(0, 1, 0, 0);
    Change(5, kGiB, 4 * kGiB);
    Window(5, 1, 0, 0.001);
    EXPECT_EQ(Verdict(Judge(12)), "no load to judge by: 1.0 kB/s of WAL");
}

TEST_F(EffectOfChange, WindowsCutShortByARestartAreNoMeasure) {
    Window(0, 0, 12, 8);
    Change(5, kGiB, 4 * kGiB);
    WindowRecord& cut = Window(5, 0, 0, 8);
    cut.end -= kMinute;
    cut.length -= kMinute;
    EXPECT_NE(Verdict(Judge(12)).find("too early"), std::string::npos);
}

TEST_F(EffectOfChange, OfAChangeWhoseWindowsAreForgottenNothingIsKnown) {
    Change(0, kGiB, 4 * kGiB);
    Window(600, 1, 0, 4);
    EXPECT_EQ(Verdict(Judge(606)), "not known: the history holds no whole window soon after it");
}

TEST_F(EffectOfChange, WhatWasNotAppliedHasNoEffect) {
    Change(5, kGiB, 4 * kGiB).outcome = Outcome::kFailed;
    EXPECT_FALSE(Judge(12).applied);
    Change(5, kGiB, 4 * kGiB).outcome = Outcome::kDryRun;
    EXPECT_FALSE(Judge(12).applied);
    Change(5, kGiB, kGiB);
    EXPECT_FALSE(Judge(12).applied);
}

// Watched under forced checkpoints, then switched on: the raises' effect comes out of what really happened.
TEST(EffectInALife, ComesOutOfTheJournalOfARealRise) {
    Rig rig;
    rig.settings.enable = false;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.transaction_bytes = 3000;
    rig.server.load = [](double) { return Load{MB(5), MB(20), 8}; };
    rig.Run(5 * kMinute);
    rig.settings.enable = true;
    rig.Run(10 * kMinute);
    ASSERT_GE(rig.Decisions(Action::kGrow), 2);
    const Tracker& tracker = rig.tuner.tracker();
    const EffectFacts facts = {rig.journal, tracker.latest().wall, tracker.open_window().start,
                               tracker.open_window_due()};
    const Effect effect = EffectOf(facts, 0);
    ASSERT_TRUE(effect.applied);
    EXPECT_GE(effect.changes, 2U);
    EXPECT_GT(effect.before.checkpoints.wal_forced, 5);
    EXPECT_EQ(effect.after.checkpoints.wal_forced, 0);
    EXPECT_GT(effect.before.WalPerTransaction(), 1.5 * effect.after.WalPerTransaction());
    EXPECT_GT(effect.before.FpiShare(), effect.after.FpiShare());
    const std::string verdict = effect.verdict.c_str();
    EXPECT_NE(verdict.find("forced checkpoints fell from"), std::string::npos) << verdict;
    EXPECT_NE(verdict.find("WAL per transaction"), std::string::npos) << verdict;
}

}  // namespace
}  // namespace walsizer::test
