// What survives a restart.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Memory : public testing::Test {
  protected:
    Memory() {
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 256 * kMiB;
        rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
    }
    void RestartBoth() {
        rig.server.Restart();
        rig.RestartTuner();
    }
    Rig rig;
};

TEST_F(Memory, OfATunerThatNeverLookedIsWhatItWasGiven) {
    TunerMemory memory;
    memory.last_size = 7 * kGiB;
    memory.cycles.redo = 99;
    memory.held = true;
    memory.held_reason.Set("an order");
    Tuner tuner;
    tuner.Remember(memory);
    const TunerMemory again = tuner.memory();
    EXPECT_EQ(again.last_size, 7 * kGiB);
    EXPECT_EQ(again.cycles.redo, 99U);
    EXPECT_TRUE(again.held);
    EXPECT_STREQ(again.held_reason.c_str(), "an order");
}

TEST_F(Memory, OfAHoldSurvivesARestartWithoutASecondExternalRow) {
    rig.Run(2 * kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(5 * kSecond);
    const std::size_t changes = rig.sets.size();
    RestartBoth();
    rig.Run(5 * kMinute);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    EXPECT_NE(std::string(rig.tuner.StateReason(rig.journal).c_str()).find("undo() by alice"),
              std::string::npos);
    EXPECT_EQ(rig.sets.size(), changes);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
}

TEST_F(Memory, OfTheOriginalSurvivesARestartAndUndoStillPutsItBack) {
    rig.Run(2 * kMinute);
    ASSERT_GT(rig.size(), 256 * kMiB);
    RestartBoth();
    rig.Run(5 * kSecond);
    EXPECT_FALSE(rig.tuner.NeedsOriginal());
    EXPECT_NE(rig.Ask(CommandKind::kUndo).decision, 0);
    rig.Run(5 * kSecond);
    EXPECT_EQ(rig.size(), 256 * kMiB);
}

TEST_F(Memory, OfCountersMakesTheRestartsShutdownCheckpointOneRequest) {
    rig.Run(2 * kMinute);
    const std::int64_t forced = rig.totals.checkpoints.wal_forced;
    RestartBoth();
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 1);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, forced);
}

TEST_F(Memory, OfTheLastSizeShowsAnEditMadeWhileTheServerWasDown) {
    rig.Run(2 * kMinute);
    const Bytes size = rig.size();
    rig.server.Restart();
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.RestartTuner();
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.LastDecision().action, Action::kExternal);
    EXPECT_EQ(rig.LastDecision().old_size, size);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
}

// The order is saved, ALTER SYSTEM is done, and the power fails before anybody saw the new value work.
TEST_F(Memory, OfAChangeOnItsWayMakesItsArrivalAfterACrashWalsizersOwn) {
    while (rig.sets.empty()) rig.Run(50 * kMillisecond);
    ASSERT_FALSE(rig.tuner.Settled());
    rig.server.Crash();
    rig.server.settings.max_wal_size = rig.sets.front();  // what postgresql.auto.conf says
    rig.RestartTuner();
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    EXPECT_TRUE(rig.tuner.original().known);
    EXPECT_EQ(rig.tuner.original().size, 256 * kMiB);
    EXPECT_NE(rig.Ask(CommandKind::kUndo).decision, 0);
}

TEST_F(Memory, OfAnUndoOnItsWayMakesItsArrivalAfterACrashNoStrangersOrder) {
    rig.Run(2 * kMinute);
    rig.Ask(CommandKind::kUndo);
    ASSERT_FALSE(rig.tuner.Settled());
    rig.server.Crash();
    rig.server.settings.max_wal_size = 256 * kMiB;
    rig.RestartTuner();
    rig.Run(5 * kSecond);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    EXPECT_NE(std::string(rig.tuner.StateReason(rig.journal).c_str()).find("undo() by alice"),
              std::string::npos);
}

TEST_F(Memory, OfACrashCausesNoRaiseAfterwards) {
    rig.server.settings.max_wal_size = 4 * kGiB;
    for (int i = 0; i < 5; ++i) {
        rig.Run(20 * kSecond);
        rig.server.Crash();
        rig.RestartTuner();
    }
    rig.Run(kMinute);
    EXPECT_TRUE(rig.sets.empty());
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 5);
}

TEST_F(Memory, OfNothingTakesTheFirstLookAsItIs) {
    rig.Run(kSecond);
    EXPECT_EQ(rig.journal.decisions.size(), 0U);
    EXPECT_EQ(rig.journal.checkpoints.size(), 0U);
    EXPECT_EQ(rig.tuner.memory().last_size, 256 * kMiB);
    EXPECT_EQ(rig.tuner.memory().cycles.redo, rig.server.redo);
}

TEST_F(Memory, OfDecisionIdsGoesOnRising) {
    rig.Run(2 * kMinute);
    const std::int64_t last = rig.LastDecision().id;
    RestartBoth();
    rig.Run(2 * kSecond);
    rig.Ask(CommandKind::kEvaluate);
    EXPECT_EQ(rig.LastDecision().id, last + 1);
}

}  // namespace
}  // namespace walsizer::test
