// walsizer.shrink_after: growth that was not needed for long is given back, never more.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class ShrinkAfter : public testing::Test {
  protected:
    ShrinkAfter() {
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 256 * kMiB;
        rig.settings.shrink_after = kHour;
        Steady(20);
        rig.Run(10 * kMinute);
        grown = rig.size();
    }
    void Steady(double megabytes_per_second) {
        rig.server.load = [=](double) { return Load{MB(megabytes_per_second), 0, 1}; };
    }

    Rig rig;
    Bytes grown = 0;
};

TEST_F(ShrinkAfter, AnHourOfLittleNeedGivesBackDownToTheNeed) {
    ASSERT_GT(grown, 2 * kGiB);
    Steady(4);
    rig.Run(58 * kMinute);
    EXPECT_EQ(rig.size(), grown);
    rig.Run(20 * kMinute);
    EXPECT_EQ(rig.LastDecision().action, Action::kShrink);
    EXPECT_EQ(rig.LastDecision().cause, DecisionCause::kIdle);
    EXPECT_EQ(rig.LastDecision().outcome, Outcome::kEffective);
    const Bytes need = SizeForDistance(MB(4) * 60, rig.server.settings);
    EXPECT_GE(rig.size(), need);
    EXPECT_LE(static_cast<double>(rig.size()), 1.2 * static_cast<double>(need));
    EXPECT_EQ(rig.totals.lowered, 1);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0);
}

TEST_F(ShrinkAfter, NeverGoesBelowWhatWasThereBefore) {
    Steady(0.01);
    rig.Run(2 * kHour);
    EXPECT_EQ(rig.size(), 256 * kMiB);
    EXPECT_EQ(rig.Decisions(Action::kShrink), 1);
    // All the way back is the original itself: nothing is left to undo.
    EXPECT_FALSE(rig.tuner.original().known);
}

TEST_F(ShrinkAfter, ALoadThatComesBackWithinItKeepsTheSize) {
    for (int round = 0; round < 4; ++round) {
        Steady(0.01);
        rig.Run(45 * kMinute);
        Steady(20);
        rig.Run(5 * kMinute);
    }
    EXPECT_EQ(rig.size(), grown);
    EXPECT_EQ(rig.Decisions(Action::kShrink), 0);
}

TEST_F(ShrinkAfter, OfZeroNeverShrinks) {
    rig.settings.shrink_after = 0;
    Steady(0.01);
    rig.Run(4 * kHour);
    EXPECT_EQ(rig.size(), grown);
}

// While it decides for a virtual size, the real one is nobody's to lower.
TEST_F(ShrinkAfter, ADryRunRefusesToShrink) {
    Steady(4);
    rig.Run(10 * kMinute);
    EXPECT_STREQ(rig.tuner.ShrinkRefusal(rig.journal).c_str(), "");
    rig.settings.dry_run = true;
    rig.Run(kMinute);
    EXPECT_STREQ(rig.Ask(CommandKind::kShrink).refusal.c_str(),
                 "walsizer.dry_run is on, so walsizer changes nothing");
    EXPECT_EQ(rig.size(), grown);
}

}  // namespace
}  // namespace walsizer::test
