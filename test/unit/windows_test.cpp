#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Windows : public testing::Test {
  protected:
    Windows() {
        rig.settings.enable = false;
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 2 * kGiB;
        rig.server.load = [](double) { return Load{MB(3), MB(5), 10}; };
    }
    Rig rig;
};

TEST_F(Windows, AreOneTimeoutLongAndFollowEachOtherWithoutDrift) {
    rig.Run(kSecond);
    const Timestamp start = rig.tuner.tracker().open_window().start;
    rig.Run(60 * kMinute);
    ASSERT_EQ(rig.journal.windows.size(), 60U);
    for (std::uint32_t age = 0; age < 60; ++age) {
        const WindowRecord& window = rig.journal.windows.Newest(age);
        EXPECT_EQ(window.start, start + (59 - age) * kMinute);
        EXPECT_NEAR(static_cast<double>(window.length), 60.0 * kSecond, 1.0 * kSecond);
    }
}

TEST_F(Windows, KeepTheirLengthUnderExtraLooksEvery200Milliseconds) {
    rig.Run(kSecond);
    const Micros start = rig.server.now;
    while (rig.server.now < start + 10 * kMinute) {
        rig.server.Advance(rig.server.now + 200 * kMillisecond);
        rig.tuner.ConfigurationReloaded();
        rig.Look();
    }
    ASSERT_EQ(rig.journal.windows.size(), 10U);
    for (std::uint32_t age = 0; age < 10; ++age)
        EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(age).length), 60.0 * kSecond,
                    0.3 * kSecond);
}

TEST_F(Windows, AChangedTimeoutWorksFromTheNextWindowOn) {
    rig.Run(30 * kSecond);
    rig.server.settings.checkpoint_timeout = 5 * kMinute;
    rig.Run(40 * kSecond);
    ASSERT_EQ(rig.journal.windows.size(), 1U);
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(0).length), 60.0 * kSecond, 1.5 * kSecond);
    rig.server.settings.checkpoint_timeout = 30 * kSecond;
    rig.Run(4 * kMinute + 55 * kSecond);
    ASSERT_GE(rig.journal.windows.size(), 2U);
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(rig.journal.windows.size() - 2).length),
                300.0 * kSecond, 1.5 * kSecond);
}

TEST_F(Windows, AnObserverThatWasAwayStartsANewPhaseInsteadOfManyEmptyWindows) {
    rig.Run(10 * kSecond);
    rig.server.Advance(rig.server.now + 10 * kMinute);
    rig.Look();
    ASSERT_EQ(rig.journal.windows.size(), 1U);
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(0).length), 610.0 * kSecond, 2.0 * kSecond);
    rig.Run(62 * kSecond);
    ASSERT_EQ(rig.journal.windows.size(), 2U);
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(0).length), 60.0 * kSecond, 1.5 * kSecond);
}

TEST_F(Windows, AccountForAllWalImagesCheckpointsAndWriteTimes) {
    rig.Run(10 * kMinute);
    Bytes wal = 0;
    Bytes images = 0;
    CheckpointCounts counts;
    double write_time = 0;
    std::int64_t completed = 0;
    for (std::uint32_t age = 0; age < rig.journal.windows.size(); ++age) {
        const WindowRecord& window = rig.journal.windows.Newest(age);
        wal += window.wal_bytes;
        images += window.fpi_bytes;
        counts.Add(window.checkpoints);
        write_time += window.write_time;
        completed += window.completed;
        EXPECT_GT(window.fpi_bytes, 0);
        EXPECT_EQ(window.max_wal_size, 2 * kGiB);
    }
    const double seen = static_cast<double>(rig.totals.wal_bytes);
    EXPECT_NEAR(static_cast<double>(wal), seen, MB(12));
    EXPECT_NEAR(static_cast<double>(images), MB(50) * 10, MB(50));
    EXPECT_EQ(counts.timed, rig.server.Count(Why::kTime));
    EXPECT_NEAR(write_time, 100.0 * rig.server.Count(Why::kTime), 100.0);
    EXPECT_EQ(static_cast<double>(completed), write_time / 100);
}

TEST_F(Windows, CountTransactionIdsAndWalInTheStatistics) {
    rig.server.transaction_bytes = 3000;
    rig.Run(3 * kMinute);
    ASSERT_GE(rig.journal.windows.size(), 2U);
    const WindowRecord& window = rig.journal.windows.Newest(0);
    EXPECT_EQ(window.timeout, kMinute);
    EXPECT_NEAR(static_cast<double>(window.xids), MB(3) * 60 / 3000, 0.05 * MB(3) * 60 / 3000);
    EXPECT_NEAR(static_cast<double>(window.stat_bytes), static_cast<double>(window.wal_bytes), MB(1));
}

TEST_F(Windows, DoNotClaimToKnowWhatTheServerDoesNotSay) {
    rig.Run(3 * kMinute);
    const WindowRecord& window = rig.journal.windows.Newest(0);
    EXPECT_EQ(window.xids, -1);
    EXPECT_EQ(window.clean, -1);
    EXPECT_EQ(window.backend, -1);
}

// What other processes wrote is counted from window to window; a reset in between makes it unknown, not
// negative.
TEST_F(Windows, CountBuffersWrittenByOthersAndNoticeAReset) {
    Observation seen = rig.server.Observe();
    Tracker tracker;
    seen.buffers = {true, 100, 5, 1000, 7};
    tracker.Look(seen, rig.journal);
    seen.now += 30 * kSecond;
    seen.buffers = {true, 180, 6, 4000, 7};
    tracker.Look(seen, rig.journal);
    // A look that reads no statistics keeps what the last one read.
    seen.now += 30 * kSecond;
    seen.buffers = BufferCounters();
    tracker.Look(seen, rig.journal);
    ASSERT_EQ(rig.journal.windows.size(), 1U);
    EXPECT_EQ(rig.journal.windows.Newest(0).clean, 80);
    EXPECT_EQ(rig.journal.windows.Newest(0).maxwritten, 1);
    EXPECT_EQ(rig.journal.windows.Newest(0).backend, 3000);
    EXPECT_EQ(rig.journal.windows.Newest(0).backend_fsync, 0);
    seen.now += kMinute;
    seen.buffers = {true, 0, 0, 9, 8};
    tracker.Look(seen, rig.journal);
    ASSERT_EQ(rig.journal.windows.size(), 2U);
    EXPECT_EQ(rig.journal.windows.Newest(0).clean, -1);
    EXPECT_EQ(rig.journal.windows.Newest(0).backend_fsync, 1);
}

TEST_F(Windows, WithoutWalStatisticsDoNotClaimToKnowImages) {
    rig.server.wal_statistics = false;
    rig.Run(3 * kMinute);
    ASSERT_GE(rig.journal.windows.size(), 2U);
    EXPECT_EQ(rig.journal.windows.Newest(0).fpi_bytes, -1);
}

TEST_F(Windows, AStopEndsTheOpenWindowSoThatItIsNotLost) {
    rig.Run(90 * kSecond);
    const std::uint32_t before = rig.journal.windows.size();
    rig.tuner.Stop(rig.journal);
    ASSERT_EQ(rig.journal.windows.size(), before + 1);
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.Newest(0).length), 30.0 * kSecond, 1.5 * kSecond);
}

TEST_F(Windows, AStopBeforeTheFirstLookWritesNothing) {
    rig.tuner.Stop(rig.journal);
    EXPECT_EQ(rig.journal.windows.size(), 0U);
}

TEST_F(Windows, APromotionEndsTheStandbysWindowAndMixesNothing) {
    rig.server.in_recovery = true;
    rig.Run(90 * kSecond);
    rig.server.Promote();
    rig.Run(90 * kSecond);
    ASSERT_GE(rig.journal.windows.size(), 3U);
    for (std::uint32_t age = 0; age < rig.journal.windows.size(); ++age)
        EXPECT_EQ(rig.journal.windows.Newest(age).in_recovery, age + 2 >= rig.journal.windows.size());
}

TEST_F(Windows, AQuietWindowIsNotWorthAWriteToDisk) {
    rig.server.load = [](double) { return Load{}; };
    rig.Run(kSecond);
    int saves = 0;
    while (rig.journal.windows.size() < 3) {
        rig.server.Advance(rig.next_look);
        saves += rig.Look().save;
    }
    EXPECT_EQ(saves, 0);
}

TEST_F(Windows, TotalsNeverFall) {
    rig.server.settings.max_wal_size = 256 * kMiB;
    rig.server.load = [](double) { return Load{MB(20), 0, 1}; };
    Totals before;
    for (int step = 0; step < 400; ++step) {
        rig.Run(1700 * kMillisecond);
        if (step % 37 == 5) rig.server.ResetCounters();
        if (step % 53 == 7) rig.server.RequestCheckpoint();
        if (step % 97 == 9) {
            rig.server.Crash();
            rig.RestartTuner();
        }
        if (step == 200) rig.server.position -= MB(500);  // a restored copy
        if (step == 201) rig.server.MoveRedo(Why::kRequest);
        const Totals& now = rig.totals;
        ASSERT_GE(now.checkpoints.timed, before.checkpoints.timed);
        ASSERT_GE(now.checkpoints.requested, before.checkpoints.requested);
        ASSERT_GE(now.checkpoints.wal_forced, before.checkpoints.wal_forced);
        ASSERT_GE(now.checkpoints.stale, before.checkpoints.stale);
        ASSERT_GE(now.wal_bytes, before.wal_bytes);
        before = now;
    }
    EXPECT_LT(rig.totals.wal_bytes, 400 * 40 * kMiB);
}

// The same load, once with a wall clock that jumps by days at odd moments: what is decided, and when, is the
// same.
TEST(WallClock, JumpsByDaysChangeNoDecisionAndNoWindow) {
    Rig quiet;
    Rig jumpy;
    for (Rig* rig : {&quiet, &jumpy}) {
        rig->server.settings.max_wal_size = 128 * kMiB;
        rig->server.settings.checkpoint_timeout = kMinute;
        rig->server.load = [](double) { return Load{MB(8), MB(20), 15}; };
    }
    for (int step = 0; step < 120; ++step) {
        quiet.Run(5 * kSecond);
        jumpy.server.wall_offset = (step % 3 - 1) * 5 * 24 * kHour * (step % 7);
        jumpy.Run(5 * kSecond);
    }
    EXPECT_GE(quiet.sets.size(), 2U);
    EXPECT_EQ(quiet.sets, jumpy.sets);
    EXPECT_EQ(quiet.looks, jumpy.looks);
    ASSERT_EQ(quiet.journal.windows.size(), jumpy.journal.windows.size());
    for (std::uint32_t age = 0; age < quiet.journal.windows.size(); ++age) {
        EXPECT_EQ(quiet.journal.windows.Newest(age).length, jumpy.journal.windows.Newest(age).length);
        EXPECT_EQ(quiet.journal.windows.Newest(age).wal_bytes, jumpy.journal.windows.Newest(age).wal_bytes);
    }
}

}  // namespace
}  // namespace walsizer::test
