// What people do: raise, lower, undo, resume, evaluate, reset.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class People : public testing::Test {
  protected:
    People() {
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 256 * kMiB;
    }
    void Steady(double megabytes_per_second) {
        rig.server.load = [=](double) { return Load{MB(megabytes_per_second), 0, 1}; };
    }
    void ByHand(Bytes size) {
        rig.server.ReloadAt(rig.server.now, size);
        rig.Run(2 * kSecond);
    }
    std::string Reason(const DecisionRecord& row) { return row.reason.c_str(); }

    Rig rig;
};

TEST_F(People, ARaiseByHandIsTheNewStartingPoint) {
    Steady(1);
    rig.Run(10 * kSecond);
    ByHand(512 * kMiB);
    EXPECT_EQ(rig.LastDecision().action, Action::kExternal);
    EXPECT_EQ(rig.LastDecision().old_size, 256 * kMiB);
    EXPECT_EQ(rig.LastDecision().new_size, 512 * kMiB);
    EXPECT_EQ(Reason(rig.LastDecision()),
              "somebody else raised max_wal_size from 256 MB to 512 MB; walsizer goes on from there");
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    Steady(20);
    rig.Run(kMinute);
    ASSERT_FALSE(rig.sets.empty());
    EXPECT_GT(rig.sets.front(), 512 * kMiB);
    EXPECT_EQ(rig.tuner.original().size, 512 * kMiB);
}

TEST_F(People, ALoweringByHandIsAnOrderAndHolds) {
    Steady(20);
    rig.Run(3 * kMinute);
    const std::size_t changes = rig.sets.size();
    ASSERT_GE(changes, 1U);
    ByHand(512 * kMiB);
    EXPECT_EQ(rig.LastDecision().action, Action::kExternal);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    rig.Run(10 * kMinute);
    EXPECT_GE(rig.server.Count(Why::kWal), 10);
    EXPECT_EQ(rig.sets.size(), changes);
    EXPECT_EQ(rig.Warnings(), 1);
    EXPECT_FALSE(rig.tuner.original().known);
}

TEST_F(People, ARaiseByHandEndsTheHold) {
    Steady(1);
    rig.Run(10 * kSecond);
    ByHand(128 * kMiB);
    ASSERT_EQ(rig.tuner.state(), State::kHeld);
    ByHand(192 * kMiB);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    Steady(20);
    rig.Run(kMinute);
    EXPECT_FALSE(rig.sets.empty());
}

TEST_F(People, UndoPutsBackTheOriginalHoldsAndForgetsIt) {
    Steady(20);
    rig.Run(3 * kMinute);
    ASSERT_GT(rig.size(), kGiB);
    ASSERT_TRUE(rig.tuner.original().known);
    const CommandResult result = rig.Ask(CommandKind::kUndo);
    EXPECT_NE(result.decision, 0);
    EXPECT_FALSE(rig.tuner.Settled());
    rig.Run(2 * kSecond);
    EXPECT_TRUE(rig.tuner.Settled());
    EXPECT_EQ(rig.size(), 256 * kMiB);
    EXPECT_EQ(rig.LastDecision().action, Action::kUndo);
    EXPECT_EQ(rig.LastDecision().id, result.decision);
    EXPECT_EQ(rig.LastDecision().outcome, Outcome::kEffective);
    EXPECT_EQ(Reason(rig.LastDecision()),
              "undone by alice: max_wal_size = '1GB' is put back in postgresql.auto.conf");
    EXPECT_EQ(rig.totals.lowered, 1);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    const std::size_t changes = rig.sets.size();
    rig.Run(10 * kMinute);
    EXPECT_EQ(rig.sets.size(), changes);
}

TEST_F(People, UndoWhereThereWasNoLineSaysThatItIsRemoved) {
    rig.original_had_line = false;
    Steady(20);
    rig.Run(kMinute);
    rig.Ask(CommandKind::kUndo);
    EXPECT_EQ(Reason(rig.LastDecision()),
              "undone by alice: walsizer's line for max_wal_size is removed from postgresql.auto.conf");
}

// The files may say something else than the value found before the first raise; whatever they say, it is no
// stranger's.
TEST_F(People, UndoThatComesOutAtAThirdValueIsStillEffective) {
    Steady(20);
    rig.Run(3 * kMinute);
    rig.reload_does_nothing = true;
    rig.Ask(CommandKind::kUndo);
    rig.server.ReloadAt(rig.server.now + 200 * kMillisecond, 320 * kMiB);
    rig.Run(5 * kSecond);
    EXPECT_EQ(rig.LastDecision().action, Action::kUndo);
    EXPECT_EQ(rig.LastDecision().outcome, Outcome::kEffective);
    EXPECT_EQ(rig.Decisions(Action::kExternal), 0);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
}

TEST_F(People, UndoWithoutARaiseIsRefusedWithAHint) {
    rig.Run(5 * kSecond);
    const CommandResult result = rig.Ask(CommandKind::kUndo);
    EXPECT_EQ(result.decision, 0);
    EXPECT_FALSE(result.refusal.empty());
    EXPECT_FALSE(result.hint.empty());
    EXPECT_EQ(rig.journal.decisions.size(), 0U);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
}

TEST_F(People, ASecondUndoIsRefused) {
    Steady(20);
    rig.Run(kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.Ask(CommandKind::kUndo).decision, 0);
}

TEST_F(People, BeforeTheFirstLookAndDuringAChangeEveryCommandWaits) {
    const auto commands = {CommandKind::kEvaluate, CommandKind::kUndo, CommandKind::kResume,
                           CommandKind::kReset, CommandKind::kShrink};
    for (CommandKind kind : commands) EXPECT_TRUE(rig.Ask(kind).empty());
    Steady(20);
    rig.reload_takes = 5 * kSecond;
    while (rig.tuner.Settled()) rig.Run(100 * kMillisecond);
    const std::int64_t before = rig.LastDecision().id;
    for (CommandKind kind : commands) EXPECT_TRUE(rig.Ask(kind).empty());
    EXPECT_EQ(rig.LastDecision().id, before);
    while (!rig.tuner.Settled()) rig.Run(100 * kMillisecond);
    EXPECT_GT(rig.Ask(CommandKind::kUndo).decision, before);
}

TEST_F(People, AFailedUndoStaysHeldAndCanBeTriedAgain) {
    Steady(20);
    rig.Run(3 * kMinute);
    const Bytes size = rig.size();
    rig.change_fails_with = "could not open file \"postgresql.auto.conf\": Permission denied";
    rig.Ask(CommandKind::kUndo);
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.size(), size);
    EXPECT_EQ(rig.LastDecision().outcome, Outcome::kFailed);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    rig.change_fails_with.clear();
    EXPECT_NE(rig.Ask(CommandKind::kUndo).decision, 0);
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.size(), 256 * kMiB);
}

TEST_F(People, ResumeEndsAHoldAndTheTunerRaisesAgain) {
    Steady(20);
    rig.Run(kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(kMinute);
    const std::size_t changes = rig.sets.size();
    EXPECT_NE(rig.Ask(CommandKind::kResume).decision, 0);
    EXPECT_EQ(rig.LastDecision().action, Action::kResume);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    rig.Run(3 * kMinute);
    EXPECT_GT(rig.sets.size(), changes);
    EXPECT_EQ(rig.tuner.original().size, 256 * kMiB);
}

TEST_F(People, ResumeWithoutAHoldSaysSo) {
    rig.Run(5 * kSecond);
    rig.Ask(CommandKind::kResume);
    EXPECT_EQ(Reason(rig.LastDecision()), "resume() by alice: walsizer was not held");
}

TEST_F(People, EvaluateWithNothingToDoIsAHoldRowWithTheMeasuredEvidence) {
    Steady(1);
    rig.Run(3 * kMinute);
    const CommandResult result = rig.Ask(CommandKind::kEvaluate);
    EXPECT_EQ(result.decision, rig.LastDecision().id);
    EXPECT_EQ(rig.LastDecision().action, Action::kHold);
    EXPECT_EQ(rig.LastDecision().cause, DecisionCause::kManual);
    EXPECT_NE(Reason(rig.LastDecision()).find("max_wal_size stays at 256 MB"), std::string::npos);
    EXPECT_NE(Reason(rig.LastDecision()).find("(asked by alice)"), std::string::npos);
    EXPECT_TRUE(rig.sets.empty());
}

TEST_F(People, EvaluateRaisesAtOnceToAMeasuredNeed) {
    rig.settings.enable = false;
    rig.server.settings.max_wal_size = kGiB;
    Steady(8.6);  // 516 MB in a timeout: timed, but with headroom it needs more than 1 GB
    rig.Run(5 * kMinute);
    rig.settings.enable = true;
    rig.Run(kSecond);
    const CommandResult result = rig.Ask(CommandKind::kEvaluate);
    EXPECT_EQ(rig.LastDecision().id, result.decision);
    EXPECT_EQ(rig.LastDecision().action, Action::kGrow);
    ASSERT_GT(rig.tuner.need(rig.journal).size, kGiB);
    rig.Run(kSecond);
    EXPECT_EQ(rig.size(), rig.tuner.need(rig.journal).size);
}

TEST_F(People, EvaluateWhileHeldRaisesNothingAndSaysWhy) {
    Steady(20);
    rig.Run(kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(3 * kMinute);
    const std::size_t changes = rig.sets.size();
    rig.Ask(CommandKind::kEvaluate);
    EXPECT_EQ(rig.sets.size(), changes);
    EXPECT_NE(Reason(rig.LastDecision()).find("held by an order (undo() by alice)"), std::string::npos)
        << Reason(rig.LastDecision());
}

TEST_F(People, ResetClearsWhatIsShownAndKeepsWhatIsNeeded) {
    Steady(20);
    rig.Run(3 * kMinute);
    const std::int64_t last_id = rig.LastDecision().id;
    rig.Ask(CommandKind::kReset);
    EXPECT_EQ(rig.journal.windows.size(), 0U);
    EXPECT_EQ(rig.journal.checkpoints.size(), 0U);
    EXPECT_EQ(rig.journal.decisions.size(), 1U);
    EXPECT_EQ(rig.LastDecision().id, last_id + 1);
    EXPECT_EQ(rig.totals.wal_bytes, 0);
    EXPECT_EQ(rig.totals.raised, 0);
    EXPECT_NEAR(static_cast<double>(rig.totals.stats_reset),
                static_cast<double>(kWallAtStart + rig.server.now), 1.0 * kSecond);
    EXPECT_TRUE(rig.tuner.original().known);
    rig.Run(3 * kMinute);
    EXPECT_NE(rig.Ask(CommandKind::kUndo).decision, 0);
}

TEST_F(People, ResetKeepsAHold) {
    Steady(20);
    rig.Run(kMinute);
    rig.Ask(CommandKind::kUndo);
    rig.Run(5 * kSecond);
    rig.Ask(CommandKind::kReset);
    const std::size_t changes = rig.sets.size();
    rig.Run(5 * kMinute);
    EXPECT_EQ(rig.tuner.state(), State::kHeld);
    EXPECT_EQ(rig.sets.size(), changes);
}

}  // namespace
}  // namespace walsizer::test
