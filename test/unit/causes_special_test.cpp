// Starts, crashes, promotions, running statements, and the timer and WAL volume due at once.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class SpecialCauses : public testing::Test {
  protected:
    SpecialCauses() {
        rig.settings.enable = false;
        rig.server.settings.checkpoint_timeout = kMinute;
    }
    void Steady(double megabytes_per_second) {
        rig.server.load = [=](double) { return Load{MB(megabytes_per_second), 0, 1}; };
    }
    CheckpointRecord& Row(std::uint32_t age) { return rig.journal.checkpoints.Newest(age); }

    Rig rig;
};

TEST_F(SpecialCauses, ARestartsShutdownCheckpointIsOneRequest) {
    Steady(30);
    rig.Run(10 * kSecond);
    rig.server.Restart();
    rig.RestartTuner();
    rig.Run(3 * kSecond);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 1);
    EXPECT_EQ(rig.totals.checkpoints.requested, 1);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0);
}

TEST_F(SpecialCauses, FiveRestartsAtTheSmallestSettingAreFiveRequests) {
    rig.server.settings.max_wal_size = 64 * kMiB;
    for (int i = 0; i < 5; ++i) {
        Steady(i % 2 == 0 ? 3 : 0);
        rig.Run(5 * kSecond);
        rig.server.WriteNow(100 * kMiB);  // more than the trigger, and nobody looked before the shutdown
        rig.server.Restart();
        rig.RestartTuner();
    }
    Steady(0);
    rig.Run(5 * kSecond);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 5);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0);
}

TEST_F(SpecialCauses, ACrashIsOneRequestAndTheLostCountersInventNothing) {
    Steady(40);
    rig.Run(kMinute);
    const std::int64_t forced = rig.totals.checkpoints.wal_forced;
    rig.server.WriteNow(520 * kMiB);
    rig.server.Crash();
    rig.RestartTuner();
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 1);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, forced);
}

// A remote observer lives through the server's crash; server_start tells it.
TEST_F(SpecialCauses, ACrashThatTheObserverSurvivesIsARequestWhateverItsDistance) {
    Steady(30);
    rig.Run(10 * kSecond);
    rig.server.WriteNow(300 * kMiB);
    rig.server.Crash();
    rig.Run(2 * kSecond);
    ASSERT_EQ(rig.journal.checkpoints.size(), 1U);
    ASSERT_GT(Row(0).wal_bytes, 528 * kMiB);
    EXPECT_STREQ(Name(Row(0).cause), "request");
}

TEST_F(SpecialCauses, APromotionWith580MbAgainstATriggerOf528MbIsARequest) {
    rig.server.in_recovery = true;
    Steady(10);
    rig.Run(58 * kSecond);
    rig.server.Promote();
    Steady(0);
    rig.Run(5 * kSecond);
    ASSERT_EQ(rig.journal.checkpoints.size(), 1U);
    EXPECT_NEAR(static_cast<double>(Row(0).wal_bytes), MB(580), MB(12));
    EXPECT_EQ(Row(0).trigger_size, 528 * kMiB);
    EXPECT_STREQ(Name(Row(0).cause), "request");
    EXPECT_EQ(Row(0).count, 1);
}

TEST_F(SpecialCauses, AfterAPromotionTheSecondForcedCheckpointIsWalAgain) {
    rig.server.in_recovery = true;
    Steady(40);
    rig.Run(5 * kSecond);
    rig.server.Promote();
    rig.Run(20 * kSecond);
    EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), 1);
    EXPECT_EQ(rig.Rows(CheckpointCause::kWal), 1);
}

TEST_F(SpecialCauses, OnAStandbyCountersAreNoiseAndOnlyRedoMovementCounts) {
    rig.server.in_recovery = true;
    Steady(2);
    for (int quarter = 0; quarter < 40; ++quarter) {
        rig.server.Noise(1, 3);
        rig.Run(15 * kSecond);
        if (quarter % 8 == 7) rig.server.MoveRedo(Why::kTime);
    }
    rig.Run(2 * kSecond);
    EXPECT_EQ(rig.totals.checkpoints.effective(), 5);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0);
}

// Up to 16 restartpoints move the same counters: what piled up in recovery is not this primary's doing.
TEST_F(SpecialCauses, CountersFromRecoveryAreNoCheckpointsOfThePromotedServer) {
    Steady(2);
    rig.Run(10 * kSecond);  // a primary once, so that counters are remembered
    rig.server.in_recovery = true;
    rig.server.Restart();
    rig.RestartTuner();
    rig.Run(10 * kSecond);
    const std::int64_t before = rig.totals.checkpoints.effective();
    rig.server.Noise(5000, 700);
    rig.Run(10 * kSecond);
    rig.server.Promote();
    rig.Run(10 * kSecond);
    EXPECT_EQ(rig.totals.checkpoints.effective() - before, 1);
}

// A measured case: max_wal_size went from 64MB to 4GB in the middle of one INSERT, which forced twenty more
// checkpoints at the old trigger, 49 to 82 MB apart, in 18 s.
TEST_F(SpecialCauses, AfterARaiseARunningStatementsCheckpointsAreStaleAndNeverForced) {
    rig.server.settings.max_wal_size = 64 * kMiB;
    rig.server.statement_segments = CheckpointSegments(rig.server.settings);
    rig.server.checkpoint_takes = 750 * kMillisecond;
    Steady(75);
    rig.Run(6 * kSecond);
    rig.server.ReloadAt(rig.server.now, 4 * kGiB);
    rig.Run(2 * kSecond);  // the checkpoint already due at the reload was due by the value then in effect
    const std::int64_t forced = rig.totals.checkpoints.wal_forced;
    const Micros later = rig.server.now;
    rig.Run(16 * kSecond);
    EXPECT_GE(rig.server.Count(Why::kWal, later), 18);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, forced);
    EXPECT_GE(rig.totals.checkpoints.stale, rig.server.Count(Why::kWal, later) - 1);
    rig.server.statement_segments = 0;
    rig.Run(20 * kSecond);
    EXPECT_EQ(rig.totals.checkpoints.wal_forced, forced);
}

TEST_F(SpecialCauses, AManualCheckpointLongAfterARaiseIsARequestAndNotStale) {
    rig.server.settings.max_wal_size = 64 * kMiB;
    Steady(10);
    rig.Run(6 * kSecond);
    rig.server.ReloadAt(rig.server.now, 4 * kGiB);
    rig.Run(50 * kSecond);  // WAL passed the old trigger many times over
    rig.server.RequestCheckpoint();
    for (int i = 0; i < 5; ++i) {
        rig.Run(10 * kSecond);
        rig.server.RequestCheckpoint();
    }
    rig.Run(3 * kSecond);
    EXPECT_EQ(rig.totals.checkpoints.stale, 0);
    EXPECT_GE(rig.Rows(CheckpointCause::kRequest), 5);
}

TEST_F(SpecialCauses, TheTriggerOfACycleIsTheSmallestInEffectDuringIt) {
    Steady(20);
    rig.server.settings.max_wal_size = 4 * kGiB;
    rig.Run(20 * kSecond);
    rig.server.ReloadAt(rig.server.now, 512 * kMiB);
    rig.Run(5 * kSecond);
    EXPECT_STREQ(Name(Row(0).cause), "wal");
    EXPECT_EQ(Row(0).trigger_size, 256 * kMiB);
}

// WAL reaches the trigger in the very seconds in which the timer is due: the counters tell, whenever they
// show.
class DueTogether : public SpecialCauses, public testing::WithParamInterface<Micros> {};

TEST_P(DueTogether, IsSettledByTheCounters) {
    rig.server.counters_late = GetParam();
    Steady(520.0 / 60.5);
    rig.Run(20 * kMinute);
    Steady(0);
    rig.Run(3 * kMinute);
    ASSERT_GE(rig.server.Count(Why::kWal), 3);
    ASSERT_GE(rig.server.Count(Why::kTime), 3);
    EXPECT_EQ(rig.Rows(CheckpointCause::kWal), rig.server.Count(Why::kWal));
    EXPECT_EQ(rig.Rows(CheckpointCause::kTime), rig.server.Count(Why::kTime));
}

TEST_P(DueTogether, AForcedOneThatIsSettledLateIsTheLastForcedCycle) {
    rig.server.counters_late = GetParam();
    Steady(MB(528) / MB(1) / 59.0);
    rig.Run(kMinute + 50 * kSecond);
    ASSERT_EQ(rig.server.Count(Why::kWal), 1);
    ASSERT_EQ(rig.Rows(CheckpointCause::kWal), 1);
    EXPECT_NEAR(static_cast<double>(rig.tuner.tracker().last_forced_cycle().wal_bytes), MB(528), MB(17));
    EXPECT_NEAR(static_cast<double>(rig.tuner.tracker().last_forced_cycle().elapsed), 59.0 * kSecond,
                2.0 * kSecond);
}

INSTANTIATE_TEST_SUITE_P(CountersLate, DueTogether,
                         testing::Values(Micros{0}, 300 * kMillisecond, 3 * kSecond, 30 * kSecond),
                         [](const auto& test) { return std::to_string(test.param / kMillisecond) + "ms"; });

}  // namespace
}  // namespace walsizer::test
