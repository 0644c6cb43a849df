#include "cli/server/cycle_feed.hpp"

#include <gtest/gtest.h>

#include "walsizer/sizing.hpp"
#include "walsizer/what_if.hpp"

namespace walsizer::cli {
namespace {

// A server as SQL shows it: the redo point of a checkpoint becomes visible when it completes, its count when
// it starts. Looked at once a second.
class SqlServer {
  public:
    SqlServer() {
        seen_.now = 100 * kSecond;
        seen_.wall = 1000 * kHour;
        seen_.server_start = seen_.wall - kHour;
        seen_.position = kStart + 1000;
        seen_.server = {64 * kMiB, 16 * kMiB, 0.9, 30 * kSecond};
        seen_.counters.known = true;
        redo_ = kStart;
        completed_at_ = seen_.wall;
    }

    void Second(double bytes) {
        seen_.now += kSecond;
        seen_.wall += kSecond;
        seen_.position += static_cast<Lsn>(bytes);
        if (running_ > 0 && --running_ == 0) Complete();
    }
    void Look() {
        Sample sample;
        sample.seen = seen_;
        sample.completed_redo = sees_redo ? redo_ : 0;
        sample.completed_at = completed_at_;
        feed.Add(sample);
    }
    void Run(int seconds, double bytes) {
        for (int i = 0; i < seconds; ++i) {
            Second(bytes);
            Look();
        }
    }
    // A checkpoint that takes so many seconds, starting now.
    void Checkpoint(bool timed, int seconds) {
        started_redo_ = seen_.position;
        started_at_ = seen_.wall;
        ++(timed ? seen_.counters.timed : seen_.counters.requested);
        seen_.position += 200;
        running_ = seconds;
        if (seconds == 0) Complete();
    }
    void Restart() {
        Checkpoint(false, 0);
        seen_.server_start = seen_.wall;
    }
    Observation& seen() { return seen_; }

    CycleFeed feed;
    bool sees_redo = true;

  private:
    static constexpr Lsn kStart = Lsn{1} << 32;
    void Complete() {
        redo_ = started_redo_;
        completed_at_ = started_at_;
        seen_.position += 100;
    }

    Observation seen_;
    Lsn redo_ = 0;
    Lsn started_redo_ = 0;
    Timestamp completed_at_ = 0;
    Timestamp started_at_ = 0;
    int running_ = 0;
};

TEST(CycleFeed, JudgesACheckpointByWhereItStartedThoughItShowsLate) {
    SqlServer server;
    server.Run(5, 1 * kMiB);
    server.Run(8, 5 * kMiB);       // 45 MB: past the trigger of 32 MB
    server.Checkpoint(false, 10);  // forced; completes 10 s later
    server.Run(25, 6 * kMiB);      // and in that time WAL runs far on
    server.feed.Finish();
    const CauseCounts counts = server.feed.Counts();
    EXPECT_EQ(counts[Cause::kWal], 1);
    EXPECT_EQ(counts.total(), 1);
    const Checkpoint checkpoint = server.feed.Checkpoints().front();
    EXPECT_NEAR(static_cast<double>(checkpoint.wal_bytes), 45 * kMiB, kMiB);
    EXPECT_EQ(checkpoint.total_time, 10 * kSecond);
    EXPECT_EQ(server.feed.forced_at_present(), 1);
}

TEST(CycleFeed, TellsTimerAndCommandFromWal) {
    SqlServer server;
    server.Run(30, 100 * kKiB);
    server.Checkpoint(true, 5);
    server.Run(10, 100 * kKiB);
    server.Checkpoint(false, 0);  // CHECKPOINT, far below the trigger
    server.Run(35, 100 * kKiB);
    server.feed.Finish();
    const CauseCounts counts = server.feed.Counts();
    EXPECT_EQ(counts[Cause::kTime], 1);
    EXPECT_EQ(counts[Cause::kRequest], 1);
    EXPECT_EQ(counts.total(), 2);
}

TEST(CycleFeed, ACheckpointStillRunningIsNotJudged) {
    SqlServer server;
    server.Run(5, 10 * kMiB);
    server.Checkpoint(false, 100);
    server.Run(10, kMiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts().total(), 0);
    EXPECT_TRUE(server.feed.OneIsRunning());
}

// In a storm the next checkpoint starts before anybody looks again: its count shows with the completion
// before.
TEST(CycleFeed, TheNextOfAStormIsNotCountedTwice) {
    SqlServer server;
    server.Run(3, 100 * kKiB);
    for (int i = 0; i < 4; ++i) {
        server.Run(4, 10 * kMiB);
        server.Checkpoint(false, 3);
        server.Run(2, 10 * kMiB);
        server.Second(10 * kMiB);  // completes, and the next one starts at once
        server.Checkpoint(false, 3);
        server.Run(4, 10 * kMiB);
    }
    server.Run(2, 10 * kMiB);
    server.Second(10 * kMiB);
    server.Checkpoint(false, 30);
    server.Run(3, 10 * kMiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kWal], 8);
    EXPECT_EQ(server.feed.Counts().total(), 8);
    EXPECT_TRUE(server.feed.OneIsRunning());
}

TEST(CycleFeed, IdleTicksOfTheTimerAreNoCheckpoints) {
    SqlServer server;
    server.Run(30, 0);
    ++server.seen().counters.timed;
    server.Run(30, 0);
    ++server.seen().counters.timed;
    server.Run(3, 100 * kKiB);
    server.Checkpoint(false, 2);
    server.Run(5, 0);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kRequest], 1);
    EXPECT_EQ(server.feed.Counts().total(), 1);
    EXPECT_FALSE(server.feed.OneIsRunning());
}

TEST(CycleFeed, ARestartIsRecovery) {
    SqlServer server;
    server.Run(5, 12 * kMiB);  // even past the trigger
    server.Restart();
    server.Run(5, 100 * kKiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kRecovery], 1);
    EXPECT_EQ(server.feed.Counts().total(), 1);
    EXPECT_TRUE(server.feed.restarted());
}

TEST(CycleFeed, WhatHappenedUnseenAndMixedIsUnknown) {
    SqlServer server;
    server.Run(3, 100 * kKiB);
    for (int second = 0; second < 40; ++second) {  // nobody looks
        server.Second(300 * kKiB);
        if (second == 10) server.Checkpoint(false, 0);
        if (second == 20) server.Checkpoint(true, 0);
    }
    server.Run(5, 100 * kKiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kUnknown], 2);
    EXPECT_EQ(server.feed.Counts().total(), 2);
    EXPECT_LT(server.feed.watched(), 10 * kSecond);
}

TEST(CycleFeed, WithoutRedoPointsOnlyTheCountersTell) {
    SqlServer server;
    server.sees_redo = false;
    server.Run(10, 5 * kMiB);
    server.Checkpoint(false, 0);
    server.Run(10, 5 * kMiB);
    server.Checkpoint(true, 0);
    server.Run(10, 5 * kMiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kUnknown], 1);
    EXPECT_EQ(server.feed.Counts()[Cause::kTime], 1);
    EXPECT_NEAR(static_cast<double>(server.feed.wal_bytes()), 150 * kMiB, 6 * kMiB);
}

TEST(CycleFeed, OnAStandbyThereAreOnlyRestartpoints) {
    SqlServer server;
    server.seen().in_recovery = true;
    server.seen().replay_current = true;
    server.Run(10, 6 * kMiB);
    server.Checkpoint(false, 3);
    server.Run(20, kMiB);
    server.feed.Finish();
    EXPECT_EQ(server.feed.Counts()[Cause::kRestartpoint], server.feed.Counts().total());
    EXPECT_EQ(server.feed.Counts().total(), 1);
}

TEST(CycleFeed, MeasuresTheNeedOfAWholeTimeout) {
    SqlServer server;
    server.seen().server.max_wal_size = kGiB;
    server.Run(65, 2 * kMiB);
    server.feed.Finish();
    const Need need = PresentNeed(server.feed.tracker(), server.feed.journal());
    EXPECT_EQ(need.basis, NeedBasis::kMeasured);
    EXPECT_NEAR(need.bytes, 60.0 * kMiB, 3 * kMiB);
}

TEST(CycleFeed, KeepsARecordThatCanBeReplayed) {
    SqlServer server;
    WalStatistics& wal = server.seen().wal;
    wal.known = true;
    for (int second = 0; second < 120; ++second) {
        server.Second(4.0 * kMiB);
        wal.bytes += 4 * kMiB;
        wal.records += 4000;
        server.Look();
        // 64 MB force a checkpoint after 32 MB.
        if (second % 8 == 7) server.Checkpoint(false, 2);
    }
    server.feed.Finish();
    const Ring<WalBucket>& buckets = server.feed.journal().buckets;
    const RecordSummary record = Summarize(buckets, 0);
    EXPECT_NEAR(record.seconds, 118, 3);
    EXPECT_NEAR(record.wal_bytes, 4.0 * kMiB * record.seconds, 8.0 * kMiB);
    // The redo points stand where they were set, not where they showed.
    EXPECT_NEAR(record.largest_cycle, 32.0 * kMiB, 5.0 * kMiB);
    ServerSettings larger = server.seen().server;
    larger.max_wal_size = kGiB;
    const WhatIfRow row = WhatIf(larger, buckets, record, server.feed.tracker().images().Fit());
    EXPECT_EQ(row.forced, 0);
    EXPECT_NEAR(row.timed, 4, 1);
}

}  // namespace
}  // namespace walsizer::cli
