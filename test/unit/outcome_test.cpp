// What became of a change: effective, failed, overridden; obstacles, and when it is tried again.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class OutcomeOf : public testing::Test {
  protected:
    OutcomeOf() {
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 256 * kMiB;
        rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
    }
    DecisionRecord& FirstGrow() {
        for (std::uint32_t age = rig.journal.decisions.size(); age-- > 0;)
            if (rig.journal.decisions.Newest(age).action == Action::kGrow)
                return rig.journal.decisions.Newest(age);
        ADD_FAILURE() << "nothing was raised";
        static DecisionRecord none;
        return none;
    }
    Rig rig;
};

TEST_F(OutcomeOf, AChangeThatTheServerRunsWithIsEffectiveAndCounted) {
    rig.Run(2 * kMinute);
    ASSERT_GE(rig.sets.size(), 2U);
    for (std::uint32_t age = 0; age < rig.journal.decisions.size(); ++age)
        EXPECT_EQ(rig.journal.decisions.Newest(age).outcome, Outcome::kEffective);
    EXPECT_EQ(rig.totals.raised, static_cast<std::int64_t>(rig.sets.size()));
    EXPECT_EQ(rig.totals.failed, 0);
    EXPECT_EQ(rig.size(), rig.sets.back());
    EXPECT_TRUE(rig.tuner.Settled());
}

TEST_F(OutcomeOf, ASlowReloadIsWaitedForAndIsNobodyElsesChange) {
    rig.reload_takes = 6 * kSecond;
    rig.Run(3 * kMinute);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    EXPECT_EQ(rig.totals.failed, 0);
    EXPECT_EQ(rig.size(), rig.sets.back());
}

TEST_F(OutcomeOf, WhileAChangeIsOnItsWayNoOtherIsOrdered) {
    rig.reload_takes = 9 * kSecond;
    rig.Run(20 * kSecond);
    EXPECT_EQ(rig.sets.size(), 1U);
}

TEST_F(OutcomeOf, AFailedChangeBlocksWithItsReasonOnce) {
    rig.change_fails_with = "could not open file \"postgresql.auto.conf\": Permission denied";
    rig.Run(10 * kMinute);
    EXPECT_EQ(rig.sets.size(), 1U);
    EXPECT_EQ(FirstGrow().outcome, Outcome::kFailed);
    EXPECT_EQ(rig.totals.failed, 1);
    EXPECT_EQ(rig.totals.raised, 0);
    EXPECT_EQ(rig.tuner.state(), State::kBlocked);
    EXPECT_STREQ(rig.tuner.StateReason(rig.journal).c_str(), rig.change_fails_with.c_str());
    EXPECT_STREQ(rig.tuner.memory().last_error.c_str(), rig.change_fails_with.c_str());
    EXPECT_EQ(rig.Decisions(Action::kBlocked), 1);
    ASSERT_EQ(rig.Warnings(), 1);
    EXPECT_STREQ(rig.log.back().hint.c_str(), "Look at the file's owner.");
    EXPECT_GT(rig.tuner.need(rig.journal).size, 256 * kMiB) << "recommended goes on being computed";
}

TEST_F(OutcomeOf, AFailedChangeIsTriedAgainAfterTheConfigurationWasReloaded) {
    rig.change_fails_with = "no space left on device";
    rig.Run(2 * kMinute);
    ASSERT_EQ(rig.sets.size(), 1U);
    rig.change_fails_with.clear();
    rig.Run(kMinute);
    ASSERT_EQ(rig.sets.size(), 1U);
    rig.tuner.ConfigurationReloaded();
    rig.Run(kMinute);
    EXPECT_GE(rig.sets.size(), 2U);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    EXPECT_EQ(rig.size(), rig.sets.back());
}

TEST_F(OutcomeOf, AFailedChangeIsTriedAgainAfterAnHourAndNotSooner) {
    rig.change_fails_with = "no space left on device";
    rig.Run(58 * kMinute);
    EXPECT_EQ(rig.sets.size(), 1U);
    rig.Run(5 * kMinute);
    EXPECT_EQ(rig.sets.size(), 2U);
    EXPECT_LE(rig.Warnings(), 2);
}

TEST_F(OutcomeOf, AReloadThatChangesNothingIsOverriddenAfterTenSecondsAndBlocks) {
    rig.reload_does_nothing = true;
    rig.Run(40 * kSecond);
    EXPECT_EQ(rig.sets.size(), 1U);
    EXPECT_EQ(FirstGrow().outcome, Outcome::kOverridden);
    EXPECT_EQ(rig.tuner.state(), State::kBlocked);
    EXPECT_EQ(rig.totals.failed, 1);
    EXPECT_NE(
        std::string(rig.tuner.StateReason(rig.journal).c_str()).find("still runs with max_wal_size 256 MB"),
        std::string::npos);
}

// A broken postgresql.conf: ALTER SYSTEM succeeded, the reload applied nothing; mended and reloaded a minute
// later, walsizer's own line works at last.
TEST_F(OutcomeOf, WalsizersOwnValueThatArrivesLateIsNoStrangersAndUndoStillWorks) {
    rig.reload_does_nothing = true;
    rig.Run(kMinute);
    ASSERT_EQ(rig.sets.size(), 1U);
    rig.server.ReloadAt(rig.server.now, rig.sets.front());
    rig.reload_does_nothing = false;
    rig.tuner.ConfigurationReloaded();
    rig.Run(3 * kSecond);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    EXPECT_TRUE(rig.tuner.original().known);
    EXPECT_EQ(rig.tuner.original().size, 256 * kMiB);
    EXPECT_NE(rig.Ask(CommandKind::kUndo).decision, 0);
}

TEST_F(OutcomeOf, SomebodyFasterOverridesAndIsTakenAsTheirs) {
    rig.reload_does_nothing = true;
    while (rig.sets.empty()) rig.Run(50 * kMillisecond);
    rig.server.ReloadAt(rig.server.now + kSecond, 3 * kGiB);
    rig.Run(5 * kSecond);
    EXPECT_EQ(FirstGrow().outcome, Outcome::kOverridden);
    EXPECT_EQ(rig.LastDecision().action, Action::kExternal);
    EXPECT_EQ(rig.LastDecision().new_size, 3 * kGiB);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    EXPECT_TRUE(rig.tuner.Settled());
}

TEST_F(OutcomeOf, ALoweringDuringAChangeHolds) {
    rig.reload_does_nothing = true;
    while (rig.sets.empty()) rig.Run(50 * kMillisecond);
    rig.server.ReloadAt(rig.server.now + kSecond, 128 * kMiB);
    rig.Run(kMinute);
    EXPECT_EQ(FirstGrow().outcome, Outcome::kOverridden);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    EXPECT_EQ(rig.sets.size(), 1U);
}

TEST_F(OutcomeOf, AnObstacleBlocksBeforeAnythingIsTriedAndItsEndUnblocks) {
    Obstacle obstacle;
    obstacle.what.Set("allow_alter_system is off");
    obstacle.hint.Set("Put max_wal_size = 1024MB where it is managed.");
    rig.tuner.SetObstacle(obstacle);
    rig.Run(3 * kMinute);
    EXPECT_TRUE(rig.sets.empty());
    EXPECT_EQ(rig.tuner.state(), State::kBlocked);
    EXPECT_STREQ(rig.tuner.StateReason(rig.journal).c_str(), "allow_alter_system is off");
    EXPECT_EQ(rig.Decisions(Action::kBlocked), 1);
    ASSERT_EQ(rig.Warnings(), 1);
    rig.tuner.SetObstacle(Obstacle());
    rig.Run(2 * kMinute);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    EXPECT_FALSE(rig.sets.empty());
}

TEST_F(OutcomeOf, DisabledWatchesAndRecordsAndChangesNothing) {
    rig.settings.enable = false;
    rig.Run(5 * kMinute);
    EXPECT_TRUE(rig.sets.empty());
    EXPECT_EQ(rig.tuner.state(), State::kDisabled);
    EXPECT_GE(rig.totals.checkpoints.wal_forced, 20);
    EXPECT_GE(rig.journal.windows.size(), 4U);
    rig.settings.enable = true;
    rig.Run(kMinute);
    EXPECT_FALSE(rig.sets.empty());
}

TEST_F(OutcomeOf, ASwitchedOffTunerStillVerifiesTheChangeOnItsWay) {
    rig.reload_takes = 3 * kSecond;
    while (rig.sets.empty()) rig.Run(50 * kMillisecond);
    rig.settings.enable = false;
    rig.Run(10 * kSecond);
    EXPECT_EQ(FirstGrow().outcome, Outcome::kEffective);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
}

TEST_F(OutcomeOf, InRecoveryNothingIsChanged) {
    rig.server.in_recovery = true;
    rig.server.load = [](double) { return Load{MB(60), 0, 1}; };
    for (int i = 0; i < 60; ++i) {
        rig.Run(5 * kSecond);
        rig.server.MoveRedo(Why::kWal);
    }
    EXPECT_TRUE(rig.sets.empty());
}

}  // namespace
}  // namespace walsizer::test
