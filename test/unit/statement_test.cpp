// A statement longer than checkpoint_timeout that began under a small max_wal_size: its stale checkpoints are
// no reason to grow, its WAL is. Where checkpoints are not spread a whole checkpoint_timeout has to pass
// first.
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
    void Live(double megabytes, double completion_target) {
        rig.server.settings.checkpoint_timeout = kTimeout;
        rig.server.settings.completion_target = completion_target;
        rig.server.checkpoint_takes = kSecond;
        rig.server.load = [=](double second) { return Load{second < 330 ? MB(0.2) : MB(megabytes), 0, 1}; };
        rig.Run(330 * kSecond);
        rig.server.statement_segments = CheckpointSegments(rig.server.settings);
        rig.Run(10 * kMinute);
    }
};

// 30 MB/s for two minutes: 3.6 GB, which needs 3.7 GB at a completion target of 0.01.
TEST_F(LongStatement, IsFollowedByAValueForTheNextOne) {
    Live(30, 0.01);
    EXPECT_GE(rig.totals.checkpoints.stale, 10);
    EXPECT_NEAR(static_cast<double>(rig.size()), 3.75 * kGiB, 0.15 * kGiB);
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

// At 0.9 the same WAL needs 7.2 GB. It is reached within two timeouts: a raise spreads the checkpoint that
// runs.
TEST_F(LongStatement, IsSeenThroughWhereCheckpointsAreSpread) {
    Live(30, 0.9);
    EXPECT_GE(rig.totals.checkpoints.stale, 10);
    EXPECT_GE(rig.size(), 7 * kGiB);
    const std::string reason = rig.LastDecision().reason.c_str();
    EXPECT_NE(reason.find(" while a statement that still has an older one forces checkpoints"),
              std::string::npos)
        << reason;
    for (std::size_t i = 1; i < rig.sets.size(); ++i) EXPECT_LE(rig.sets[i], 2 * rig.sets[i - 1]);
    EXPECT_LE(rig.LastDecision().decided_at - kWallAtStart, 1000 * kSecond + 330 * kSecond + 2 * kTimeout);
}

// It never goes far beyond what a timeout held, however long the statement forces checkpoints.
TEST_F(LongStatement, DoesNotRunAway) {
    for (const double target : {0.01, 0.5, 0.9, 1.0}) {
        Rig rig;
        rig.server.settings.checkpoint_timeout = kTimeout;
        rig.server.settings.completion_target = target;
        rig.server.checkpoint_takes = kSecond;
        rig.server.load = [](double) { return Load{MB(30), 0, 1}; };
        rig.server.statement_segments = CheckpointSegments(rig.server.settings);
        rig.Run(kHour);
        EXPECT_GE(rig.totals.checkpoints.stale, 100);
        const Bytes need = SizeForDistance(MB(30) * 120 * kMeasuredHeadroom, rig.server.settings);
        EXPECT_GE(rig.size(), need * 0.98) << target;
        EXPECT_LE(rig.size(), need * 1.3) << target;
    }
}

// The statement ends, and a load follows that the timer's checkpoints suffice for.
TEST_F(LongStatement, ThatEndedRaisesNothing) {
    rig.server.settings.checkpoint_timeout = kTimeout;
    rig.server.checkpoint_takes = kSecond;
    rig.server.load = [](double second) { return Load{second < 30 ? MB(30) : MB(4), 0, 1}; };
    rig.server.statement_segments = CheckpointSegments(rig.server.settings);
    rig.Run(30 * kSecond);
    EXPECT_GE(rig.totals.checkpoints.wal_forced + rig.totals.checkpoints.stale, 1);
    rig.server.statement_segments = 0;
    const std::size_t changes = rig.sets.size();
    rig.Run(20 * kMinute);
    EXPECT_LE(rig.sets.size(), changes + 1);
    // 900 MB of the statement and 90 s of the load after it fell into one timeout.
    EXPECT_LE(rig.size(),
              1.5 * SizeForDistance(MB(30 * 30 + 4 * 90) * kMeasuredHeadroom, rig.server.settings));
}

// Somebody raises by hand while a statement runs, it ends, and commands checkpoint at distances beyond its
// old trigger: WAL passed that without a checkpoint, so nobody has it any more, and commands are no reason to
// grow.
TEST_F(LongStatement, IsNotSeenInCommandsThatFollow) {
    rig.server.checkpoint_takes = kSecond;
    double megabytes = 0.1;
    rig.server.load = [&](double) { return Load{MB(megabytes), 0, 1}; };
    rig.Run(400 * kSecond);
    rig.server.statement_segments = CheckpointSegments(rig.server.settings);
    megabytes = 20;
    rig.Run(5 * kSecond);
    rig.server.ReloadAt(rig.server.now + kSecond, 16 * kGiB);
    rig.Run(30 * kSecond);
    rig.server.statement_segments = 0;
    megabytes = 40;
    for (int i = 0; i < 20; ++i) {
        rig.Run(kMinute);
        rig.server.RequestCheckpoint();
    }
    rig.Run(kSecond);
    EXPECT_EQ(rig.totals.checkpoints.stale, 0);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, rig.server.Count(Why::kWal));
    EXPECT_EQ(rig.size(), 16 * kGiB);
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
    Live(30, 0.9);
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
