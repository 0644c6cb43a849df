// The simulated server: against figures worked out by hand, and against the unit tests' own fake server,
// which was written apart from it and ticks every 10 ms.
#include <gtest/gtest.h>

#include "fake_server.hpp"
#include "simulator/server.hpp"

namespace walsizer::simulator {
namespace {

void Live(SimulatedServer& server, Micros time) {
    server.Advance(server.now() + time);
}

struct Case {
    double base;    // MB/s of records
    double images;  // MB/s of images right after a redo point
    double fade;    // seconds
    Bytes size;
};

class AgainstFake : public testing::TestWithParam<Case> {};

TEST_P(AgainstFake, CountsAndWalAgree) {
    const Case& load = GetParam();
    test::FakeServer fake;
    fake.settings.max_wal_size = load.size;
    fake.load = [&](double) { return test::Load{test::MB(load.base), test::MB(load.images), load.fade}; };
    const double begin = fake.position;
    fake.Advance(fake.now + 2 * kHour);

    Trace trace;
    trace.server.max_wal_size = load.size;
    TraceStep step;
    step.time = 2 * kHour;
    step.load.records = test::MB(load.base);
    step.load.image_size = 8192;
    const double touches = test::MB(load.images) / step.load.image_size;
    step.load.sets[0] = {touches * load.fade, touches};
    trace.steps.push_back(step);
    SimulatedServer server(trace);
    Live(server, 2 * kHour);

    const Figures& figures = server.figures();
    EXPECT_NEAR(static_cast<double>(figures.forced), fake.Count(test::Why::kWal),
                1 + fake.Count(test::Why::kWal) / 50.0);
    EXPECT_NEAR(static_cast<double>(figures.timed), fake.Count(test::Why::kTime), 1);
    EXPECT_NEAR((figures.record_bytes + figures.image_bytes) / (fake.position - begin), 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Loads, AgainstFake,
                         testing::Values(Case{1, 0, 1, kGiB}, Case{10, 0, 1, kGiB}, Case{2, 20, 30, kGiB},
                                         Case{2, 20, 30, 4 * kGiB}, Case{0.5, 60, 10, 256 * kMiB},
                                         Case{100, 50, 100, 8 * kGiB}));

// A statement begins at its place and takes no time there: the load after it is the one that follows.
TEST(SimulatedServer, IsAtTheLoadBesideAStatement) {
    const Trace trace = ParseTrace("for 10s records 1MB/s\nstatement 20s\nfor 20s records 50MB/s\n", "t");
    SimulatedServer server(trace);
    Live(server, 10 * kSecond);
    EXPECT_EQ(server.LoadEnds(), server.now());
    const Lsn begin = server.Observe().position;
    Live(server, 20 * kSecond);
    EXPECT_NEAR(static_cast<double>(server.Observe().position - begin), test::MB(1000), test::MB(1));
}

// A timed checkpoint of 30,000 pages is spread over 0.9 of five minutes; storage alone would need 1.5 s.
TEST(SimulatedServer, SpreadsItsWritesAndCompletesLater) {
    Trace trace = ParseTrace(
        "set disk_size 100GB\nset max_wal_size 4GB\nfor 1h records 1MB/s touches 1k/s of 30k\n", "t");
    SimulatedServer server(trace);
    Live(server, 300 * kSecond + kMillisecond);
    ASSERT_EQ(server.figures().timed, 1);
    EXPECT_NEAR(static_cast<double>(server.WriteEnds(kHour)), 270.0 * kSecond, kSecond);
    const Bytes before = server.Observe().volume.wal_dir_size;
    Live(server, 269 * kSecond);
    EXPECT_GT(server.Observe().volume.wal_dir_size, before);  // old segments stay until it completes
    const double write_time = server.Observe().counters.write_time;
    Live(server, 2 * kSecond);
    EXPECT_NEAR(server.Observe().counters.write_time - write_time, 270e3, 1e3);
}

// WAL is faster than the clock: the checkpoint is over by 0.9 of the trigger, so the next one is not late.
TEST(SimulatedServer, WritesFasterUnderMoreWal) {
    Trace trace = ParseTrace("for 1h records 20MB/s touches 1k/s of 30k\n", "t");
    SimulatedServer server(trace);
    Live(server, 24 * kSecond);
    ASSERT_EQ(server.figures().forced, 1);
    const double rest = 528 * 0.9 / 20;
    EXPECT_LT(static_cast<double>(server.WriteEnds(kHour)), rest * kSecond);
    // A raise stretches the running one.
    server.SetMaxWalSize(8 * kGiB);
    Live(server, kSecond);
    EXPECT_GT(static_cast<double>(server.WriteEnds(kHour)), 3 * rest * kSecond);
}

// 300,000 pages at 5,000 a second take a minute, whatever the pacing wants: the next forced one comes late
// and far.
TEST(SimulatedServer, SlowStorageDelaysTheNextCheckpoint) {
    Trace trace = ParseTrace(
        "set write_rate 5k/s\nset image_size 1B\nfor 1h records 40MB/s touches 100k/s of 300k\n", "t");
    SimulatedServer server(trace);
    Live(server, 10 * kMinute);
    EXPECT_LE(server.figures().forced, 11);
    EXPECT_GE(server.figures().forced, 9);
}

TEST(SimulatedServer, AReloadArrivesLateAndAStatementKeepsItsTrigger) {
    Trace trace = ParseTrace(
        "set reload_delay 300ms\nfor 1s records 20MB/s\nstatement 100s\nfor 20min records 20MB/s\n", "t");
    SimulatedServer server(trace);
    Live(server, 2 * kSecond);
    server.SetMaxWalSize(64 * kGiB);
    Live(server, 200 * kMillisecond);
    EXPECT_EQ(server.max_wal_size(), kGiB);
    EXPECT_FALSE(server.Settled());
    const Bytes known = server.Observe().wal.bytes;
    Live(server, 98 * kSecond);
    EXPECT_EQ(server.max_wal_size(), 64 * kGiB);
    EXPECT_GE(server.figures().forced, 1);         // at the old distance
    EXPECT_EQ(server.Observe().wal.bytes, known);  // its statistics come when it ends
    const std::int64_t forced = server.figures().forced;
    Live(server, 600 * kSecond);
    EXPECT_EQ(server.figures().forced, forced);
    EXPECT_GT(server.Observe().wal.bytes, known);
}

TEST(SimulatedServer, CountersShowALittleLate) {
    Trace trace = ParseTrace("for 10s records 1MB/s\ncheckpoint\nfor 10min records 1MB/s\n", "t");
    SimulatedServer server(trace);
    Live(server, 10 * kSecond + 10 * kMillisecond);
    EXPECT_EQ(server.figures().requested, 1);
    EXPECT_EQ(server.Observe().counters.requested, 0);
    EXPECT_GT(server.Observe().redo, Lsn{3 * kGiB});
    Live(server, 200 * kMillisecond);
    EXPECT_EQ(server.Observe().counters.requested, 1);
}

// 8 MB/s for 100 s since the last completed checkpoint: 800 MB, at 80 MB/s ten seconds, and one for the rest.
TEST(SimulatedServer, ACrashCostsWhatWasWrittenSinceTheLastCompletedCheckpoint) {
    Trace trace = ParseTrace(
        "set max_wal_size 8GB\nset replay_rate 80MB/s\nfor 100s records 8MB/s\ncrash\nfor 1min records "
        "8MB/s\n",
        "t");
    SimulatedServer server(trace);
    Live(server, 100 * kSecond);
    const Timestamp start = server.Observe().server_start;
    Live(server, 5 * kSecond);  // lives through the whole recovery
    EXPECT_EQ(server.lives(), 2);
    EXPECT_NEAR(static_cast<double>(server.last_recovery().bytes), 800.0 * kMiB, 1000);
    EXPECT_NEAR(static_cast<double>(server.figures().downtime), 11.0 * kSecond, kMillisecond);
    EXPECT_GT(server.Observe().server_start, start);
    EXPECT_EQ(server.Observe().counters.requested, 0);
    Live(server, kHour);
    EXPECT_TRUE(server.Finished());
    EXPECT_NEAR(server.figures().record_bytes, 160 * 8.0 * kMiB, 1000);  // the clients waited
}

// XLOGfileslop(): from min_wal_size to max_wal_size, 1.1 x 1.9 x the estimate in between; the estimate rises
// at once and falls by a tenth of the way.
TEST(WalDirectory, KeepsSegmentsForTheNextCycles) {
    ServerSettings server;
    server.max_wal_size = 4 * kGiB;
    const Bytes segment = server.segment_size;
    WalDirectory wal(0, 80 * kMiB, server);
    EXPECT_EQ(wal.size(), segment);
    wal.WrittenTo(60 * segment + 5);
    EXPECT_EQ(wal.size(), 61 * segment);
    // Sixty segments went by: 1.1 x 1.9 x 60 = 125.4 ahead of redo would be kept; the sixty old ones are
    // renamed.
    wal.Recycle(60 * segment, 60 * segment, 60 * segment + 5, server);
    EXPECT_EQ(wal.size(), 61 * segment);
    // Ten more: they are renamed too, and none is made anew.
    wal.Recycle(70 * segment, 10 * segment, 70 * segment, server);
    EXPECT_EQ(wal.size(), 61 * segment);
    // Quiet cycles: the estimate decays to 10 + 50 x 0.9^33 = 11.5 segments, what lies beyond goes as it
    // becomes old.
    for (Lsn at = 80; at < 400; at += 10) wal.Recycle(at * segment, 10 * segment, at * segment, server);
    EXPECT_EQ(wal.size(), (25 + 1) * segment);  // 1.1 x 1.9 x 11.5 ahead of redo's own
    // Not below min_wal_size.
    for (Lsn at = 400; at < 500; ++at) wal.Recycle(at * segment, segment / 100, at * segment, server);
    EXPECT_EQ(wal.size(), 5 * segment);
}

TEST(SimulatedServer, TimeAboveACeilingCounts) {
    Trace trace = ParseTrace("set max 2GB\nfor 1h records 1MB/s\n", "t");
    SimulatedServer server(trace);
    Live(server, kMinute);
    EXPECT_EQ(server.figures().in_violation, 0);
    server.SetMaxWalSize(3 * kGiB);
    Live(server, 10 * kMinute);
    server.SetMaxWalSize(2 * kGiB);
    Live(server, 10 * kMinute);
    EXPECT_NEAR(static_cast<double>(server.figures().in_violation), 600.0 * kSecond, 2.0 * kSecond);
    // 12 GB, 2 GB of them used, a fifth reserved, and room for half as much again: (12 - 2 - 2.4) / 1.5.
    trace = ParseTrace("set disk_size 12GB\nset disk_used 2GB\nfor 1h records 1MB/s\n", "t");
    EXPECT_NEAR(static_cast<double>(SimulatedServer(trace).TrueCeiling()), 7.6 / 1.5 * kGiB, 2.0 * 16 * kMiB);
}

}  // namespace
}  // namespace walsizer::simulator
