// A statement longer than checkpoint_timeout that began under a small max_wal_size: its stale checkpoints are
// no reason to grow, the WAL of a whole checkpoint_timeout is.
#include <gtest/gtest.h>

#include <string>

#include "rig.hpp"

namespace walsizer::test {
namespace {

constexpr Micros kTimeout = 2 * kMinute;

class LongStatement : public testing::Test {
  protected:
    Rig rig;

    // A quiet while, then a statement of ten minutes that never sees a new setting.
    void Live(double megabytes) {
        rig.server.settings.checkpoint_timeout = kTimeout;
        rig.server.checkpoint_takes = kSecond;
        rig.server.load = [=](double second) { return Load{second < 330 ? MB(0.2) : MB(megabytes), 0, 1}; };
        rig.Run(330 * kSecond);
        rig.server.statement_segments = CheckpointSegments(rig.server.settings);
        rig.Run(10 * kMinute);
    }
};

// 30 MB/s for two minutes: 3.6 GB, which needs 7.2 GB.
TEST_F(LongStatement, IsFollowedByAValueForTheNextOne) {
    Live(30);
    EXPECT_GE(rig.totals.checkpoints.stale, 10);
    EXPECT_NEAR(static_cast<double>(rig.size()), 7.2 * kGiB, 0.3 * kGiB);
    const std::string reason = rig.LastDecision().reason.c_str();
    EXPECT_NE(reason.find("fell into one checkpoint_timeout of 120 s"), std::string::npos) << reason;
    EXPECT_NE(reason.find("a statement that began before the last raise"), std::string::npos) << reason;
    // The next one, and there is nothing left to do.
    rig.server.statement_segments = 0;
    rig.Run(5 * kTimeout);
    const int forced = rig.server.Count(Why::kWal);
    const std::size_t changes = rig.sets.size();
    rig.Run(10 * kTimeout);
    EXPECT_EQ(rig.server.Count(Why::kWal), forced);
    EXPECT_EQ(rig.sets.size(), changes);
}

// It never goes beyond what a timeout held, however long the statement forces checkpoints.
TEST_F(LongStatement, DoesNotRunAway) {
    Live(30);
    rig.Run(kHour);
    EXPECT_GE(rig.totals.checkpoints.stale, 100);
    EXPECT_LE(rig.size(), 15 * kGiB / 2);
}

// Somebody raised far enough by hand: the statement forces on, and nothing is due.
TEST_F(LongStatement, IsNoReasonWhenTheSettingSuffices) {
    rig.settings.anticipate = false;  // the hand is first
    rig.settings.threshold = 1000;
    rig.settings.target_ratio = 1;
    rig.server.settings.checkpoint_timeout = kTimeout;
    rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
    rig.server.statement_segments = CheckpointSegments(rig.server.settings);
    rig.Run(5 * kSecond);
    rig.server.ReloadAt(rig.server.now, 6 * kGiB);
    rig.Run(kSecond);
    rig.settings = TunerSettings();
    rig.Run(10 * kMinute);
    EXPECT_GE(rig.totals.checkpoints.stale, 10);
    EXPECT_TRUE(rig.sets.empty());
}

TEST_F(LongStatement, WaitsForForcedOnesWhereAnticipateIsOff) {
    rig.settings.anticipate = false;
    Live(30);
    const std::size_t changes = rig.sets.size();
    const Bytes size = rig.size();
    rig.Run(20 * kMinute);
    EXPECT_GE(rig.totals.checkpoints.stale, 20);
    EXPECT_EQ(rig.sets.size(), changes);
    EXPECT_EQ(rig.size(), size);
}

// A command may checkpoint at an old distance once; and a need that was only projected proves nothing.
TEST_F(LongStatement, IsNotTakenFromASingleCheckpoint) {
    rig.server.settings.checkpoint_timeout = kTimeout;
    rig.server.load = [](double) { return Load{MB(12), 0, 1}; };
    rig.Run(30 * kSecond);
    Race race = rig.tuner.race();
    race.size = 256 * kMiB;
    const auto judge = [&](std::int64_t stale) {
        return OutlastStatement(race, stale, rig.tuner.tracker(), rig.journal);
    };
    EXPECT_FALSE(judge(2).raise);
    rig.Run(5 * kMinute);
    EXPECT_FALSE(judge(0).raise);
    EXPECT_FALSE(judge(1).raise);
    const Proposal proposal = judge(2);
    EXPECT_TRUE(proposal.raise);
    EXPECT_EQ(proposal.step, 512 * kMiB);
    EXPECT_EQ(proposal.wanted, rig.tuner.need(rig.journal).size);
    race.size = proposal.wanted;
    EXPECT_FALSE(judge(20).raise);
}

}  // namespace
}  // namespace walsizer::test
