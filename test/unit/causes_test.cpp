// What a checkpoint was, told from outside, against what the fake server knows it to have been.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Causes : public testing::Test {
  protected:
    Causes() {
        rig.settings.enable = false;  // only accounting is proved here
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = kGiB;
    }
    void Steady(double megabytes_per_second) {
        rig.server.load = [=](double) { return Load{MB(megabytes_per_second), 0, 1}; };
    }
    void ExpectTruth() {
        EXPECT_EQ(rig.Rows(CheckpointCause::kWal), rig.server.Count(Why::kWal));
        EXPECT_EQ(rig.Rows(CheckpointCause::kTime), rig.server.Count(Why::kTime));
        EXPECT_EQ(rig.Rows(CheckpointCause::kRequest), rig.server.Count(Why::kRequest));
        EXPECT_EQ(rig.Rows(CheckpointCause::kStale), 0);
        EXPECT_EQ(rig.totals.checkpoints.wal_forced, rig.server.Count(Why::kWal));
        EXPECT_EQ(rig.totals.checkpoints.timed, rig.server.Count(Why::kTime));
        EXPECT_EQ(rig.totals.checkpoints.requested,
                  rig.server.Count(Why::kWal) + rig.server.Count(Why::kRequest));
    }

    Rig rig;
};

TEST_F(Causes, VolumeForcesAreWal) {
    Steady(40);
    rig.Run(5 * kMinute);
    EXPECT_GE(rig.server.Count(Why::kWal), 20);
    ExpectTruth();
}

TEST_F(Causes, TimerCheckpointsAreTime) {
    Steady(4);
    rig.Run(10 * kMinute + 5 * kSecond);
    EXPECT_EQ(rig.server.Count(Why::kTime), 10);
    ExpectTruth();
}

TEST_F(Causes, ManualCheckpointsAreRequest) {
    Steady(4);
    rig.Run(10 * kSecond);
    for (int i = 0; i < 50; ++i) {
        rig.server.RequestCheckpoint();
        rig.Run(3 * kSecond);
    }
    EXPECT_EQ(rig.server.Count(Why::kRequest), 50);
    ExpectTruth();
}

// At 64MB the byte rule (distance > one segment) would take half of these for forced.
TEST_F(Causes, ManualCheckpointsAtTheSmallestSettingsAreToldBySegmentsNotBytes) {
    rig.server.settings.max_wal_size = 64 * kMiB;
    rig.Run(kSecond);
    rig.server.WriteNow(kMiB);
    rig.server.RequestCheckpoint();
    int by_bytes = 0;
    for (int i = 0; i < 44; ++i) {
        rig.server.WriteNow((i % 2 == 0 ? 20 : 12) * kMiB);
        rig.server.RequestCheckpoint();
        by_bytes += rig.server.events.back().distance > 16 * kMiB;
        rig.Run(2 * kSecond);
    }
    EXPECT_EQ(by_bytes, 22);
    EXPECT_EQ(rig.server.Count(Why::kRequest), 45);
    ExpectTruth();
}

TEST_F(Causes, WithATriggerOfOneSegmentManualCheckpointsAreStillRequests) {
    rig.server.settings.max_wal_size = 32 * kMiB;
    ASSERT_EQ(CheckpointSegments(rig.server.settings), 1);
    Steady(1);
    rig.Run(kSecond);
    for (int i = 0; i < 30; ++i) {
        rig.Run(3 * kSecond);
        // Not within the same look as a forced one: those two could not be told apart by anybody.
        while (static_cast<Lsn>(rig.server.position) / kMiB % 16 >= 13 ||
               static_cast<Lsn>(rig.server.position) / kMiB % 16 < 3)
            rig.Run(kSecond);
        rig.server.RequestCheckpoint();
    }
    rig.Run(2 * kSecond);
    EXPECT_GE(rig.server.Count(Why::kWal), 5);
    ExpectTruth();
}

TEST_F(Causes, SeveralCheckpointsBetweenTwoLooksAreOneRowWithTheirCount) {
    Steady(1);
    rig.Run(10 * kSecond);
    for (int i = 0; i < 7; ++i) {
        rig.server.WriteNow(kMiB);
        rig.server.RequestCheckpoint();
    }
    rig.Run(5 * kSecond);
    ASSERT_EQ(rig.journal.checkpoints.size(), 1U);
    EXPECT_EQ(rig.journal.checkpoints.Newest(0).count, 7);
    ExpectTruth();
}

TEST_F(Causes, SeveralForcedOnesBetweenTwoLooksAreAllWal) {
    rig.server.settings.max_wal_size = 128 * kMiB;
    Steady(200);
    rig.tuner.Look(rig.server.Observe(), rig.settings, rig.journal);
    for (int look = 0; look < 20; ++look) {  // an observer that is starved: a look every two seconds
        rig.server.Advance(rig.server.now + 2 * kSecond);
        rig.tuner.Look(rig.server.Observe(), rig.settings, rig.journal);
    }
    EXPECT_GE(rig.server.Count(Why::kWal), 80);
    ExpectTruth();
}

TEST_F(Causes, CountersThatShowHalfAMinuteLateChangeNothing) {
    rig.server.counters_late = 30 * kSecond;
    Steady(40);
    rig.Run(2 * kMinute);
    Steady(4);
    rig.Run(3 * kMinute);
    for (int i = 0; i < 10; ++i) {
        rig.server.RequestCheckpoint();
        rig.Run(2 * kSecond);
    }
    Steady(0);
    rig.Run(2 * kMinute);
    ExpectTruth();
}

TEST_F(Causes, ManyRequestsBetweenTwoLooksThatShowLateAreAllCounted) {
    rig.server.counters_late = 5 * kSecond;
    Steady(1);
    rig.Run(10 * kSecond);
    for (int i = 0; i < 9; ++i) {
        rig.server.WriteNow(kMiB);
        rig.server.RequestCheckpoint();
    }
    rig.Run(20 * kSecond);
    ExpectTruth();
}

TEST_F(Causes, IdleTicksAreNoCheckpointsAndRestartTheTimer) {
    rig.Run(10 * kSecond);
    rig.Run(3 * kMinute + 30 * kSecond);
    EXPECT_GE(rig.server.Count(Why::kSkipped), 3);
    EXPECT_EQ(rig.journal.checkpoints.size(), 0U);
    EXPECT_EQ(rig.totals.checkpoints.effective(), 0);
    // The race knows when the timer comes next: within a second and a look of the truth.
    Micros last_tick = 0;
    for (const CheckpointEvent& event : rig.server.events) last_tick = event.at;
    const Micros truth = last_tick + kMinute - rig.server.now;
    EXPECT_NEAR(static_cast<double>(rig.tuner.race().timer_left), static_cast<double>(truth), 2.0 * kSecond);
}

TEST_F(Causes, IdleTicksThatNoCounterReportsAreReckonedWith) {
    rig.server.counters_late = 24 * kHour;
    rig.Run(4 * kMinute + 30 * kSecond);
    EXPECT_GT(rig.tuner.race().timer_left, 20 * kSecond);
    EXPECT_LE(rig.tuner.race().timer_left, 40 * kSecond);
}

TEST_F(Causes, AResetOfTheCountersLosesAndInventsNothing) {
    Steady(40);
    for (int i = 0; i < 6; ++i) {
        rig.Run(37 * kSecond);
        rig.server.ResetCounters();
    }
    rig.Run(kMinute);
    ExpectTruth();
}

TEST_F(Causes, AResetWhileACounterIsStillOnItsWayLosesAndInventsNothing) {
    rig.server.counters_late = 3 * kSecond;
    Steady(40);
    rig.Run(kMinute);
    for (int i = 0; i < 20; ++i) {
        rig.Run(3700 * kMillisecond);
        rig.server.ResetCounters();
    }
    Steady(4);
    rig.Run(4 * kMinute);
    Steady(0);
    rig.Run(10 * kSecond);
    ExpectTruth();
}

TEST_F(Causes, EachRowKnowsItsDistanceItsTimeAndItsTrigger) {
    Steady(40);
    rig.Run(kMinute);
    const CheckpointRecord& row = rig.journal.checkpoints.Newest(0);
    EXPECT_EQ(row.cause, CheckpointCause::kWal);
    EXPECT_EQ(row.trigger_size, 528 * kMiB);
    EXPECT_EQ(row.max_wal_size, kGiB);
    EXPECT_NEAR(static_cast<double>(row.wal_bytes), MB(528), MB(17));
    EXPECT_NEAR(static_cast<double>(row.cycle_time), 13.2 * kSecond, 1.5 * kSecond);
    EXPECT_EQ(row.redo, rig.server.redo);
    EXPECT_NEAR(static_cast<double>(row.started_at),
                static_cast<double>(kWallAtStart + rig.server.events.back().at), 1.5 * kSecond);
}

}  // namespace
}  // namespace walsizer::test
