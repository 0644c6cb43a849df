// The checkpointer on paper against PostgreSQL's rules, worked out by hand, and against itself in small
// steps.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "walsizer/paper_checkpointer.hpp"

namespace walsizer {
namespace {

constexpr Lsn kStart = 16 * kMiB;  // a segment's first byte

PaperLoad Steady(double megabytes) {
    PaperLoad load;
    load.records = megabytes * static_cast<double>(kMiB);
    return load;
}

std::vector<PaperStep> Live(PaperCheckpointer& paper, const PaperLoad& load, Micros time) {
    std::vector<PaperStep> events;
    while (time > 0) {
        const PaperStep step = paper.Advance(load, time);
        time -= step.elapsed;
        if (step.event == PaperEvent::kNone) {
            EXPECT_EQ(time, 0);
            break;
        }
        events.push_back(step);
    }
    return events;
}

TEST(PaperCheckpointer, TheTimerAloneUnderLittleWal) {
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    const auto events = Live(paper, Steady(1), 30 * kMinute);
    ASSERT_EQ(events.size(), 6U);
    for (const PaperStep& step : events) {
        EXPECT_EQ(step.event, PaperEvent::kTimed);
        EXPECT_EQ(step.cycle_time, 5 * kMinute);
        EXPECT_NEAR(static_cast<double>(step.wal_bytes), 300.0 * kMiB, 1000);
    }
    EXPECT_EQ(paper.redo_at(), 30 * kMinute);
}

// 1 GB and 0.9: 33 segments. At 10 MiB/s they are full after 52.8 s.
TEST(PaperCheckpointer, WalForcesAtTheSegmentThatPostgresqlNames) {
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    const Lsn redo = paper.redo();
    EXPECT_NEAR(static_cast<double>(paper.UntilTrigger(Steady(10), kHour)), 52.8 * kSecond, kMillisecond);
    EXPECT_EQ(paper.UntilTrigger(Steady(10), 52 * kSecond), -1);
    const PaperStep step = paper.Advance(Steady(10), kHour);
    EXPECT_EQ(step.event, PaperEvent::kForced);
    EXPECT_NEAR(static_cast<double>(step.elapsed), 52.8 * kSecond, kMillisecond);
    EXPECT_TRUE(ReachedTrigger(redo, paper.redo(), 33, 16 * kMiB));
    EXPECT_LT(step.wal_bytes, 33 * 16 * kMiB + 1024);
    // Redo now lies a little into a segment; the next one is forced at a segment's end again.
    const auto more = Live(paper, Steady(10), 10 * kMinute - step.elapsed);
    EXPECT_EQ(more.size(), 10U);
    for (const PaperStep& next : more) EXPECT_EQ(next.event, PaperEvent::kForced);
}

TEST(PaperCheckpointer, AnIdleServerTicksWithoutACheckpoint) {
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    const auto events = Live(paper, PaperLoad(), 20 * kMinute);
    ASSERT_EQ(events.size(), 4U);
    for (const PaperStep& step : events) EXPECT_EQ(step.event, PaperEvent::kSkipped);
    EXPECT_EQ(paper.redo(), kStart);
    // One record, and the next tick is a checkpoint.
    PaperLoad little;
    little.records = 100;
    EXPECT_EQ(paper.Advance(little, kSecond).event, PaperEvent::kNone);
    EXPECT_EQ(paper.Advance(PaperLoad(), kHour).event, PaperEvent::kTimed);
    // Its own record is no reason for another.
    EXPECT_EQ(paper.Advance(PaperLoad(), kHour).event, PaperEvent::kSkipped);
}

TEST(PaperCheckpointer, ACommandMovesRedoAndRestartsTheTimer) {
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    EXPECT_EQ(paper.Advance(Steady(1), 100 * kSecond).event, PaperEvent::kNone);
    paper.Request();
    paper.Request();
    PaperStep step = paper.Advance(Steady(1), kHour);
    EXPECT_EQ(step.event, PaperEvent::kRequested);
    EXPECT_EQ(step.elapsed, 0);
    EXPECT_EQ(step.cycle_time, 100 * kSecond);
    step = paper.Advance(Steady(1), kHour);
    EXPECT_EQ(step.event, PaperEvent::kTimed);
    EXPECT_EQ(step.elapsed, 5 * kMinute);
}

// 1,000 pages, changed 500 times a second: 1 - e^-1 of them are logged whole after two seconds, all of them
// soon, and none again before the next redo point.
TEST(PaperCheckpointer, ImagesFadeWithinACycleAndReturnWithTheNext) {
    PaperLoad load;
    load.records = 1000;
    load.image_size = 8000;
    load.sets[0] = {1000, 500};
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    EXPECT_NEAR(paper.Rate(load), 1000 + 500 * 8000, 1);
    const double before = paper.Rate(load);
    const double slowdown = paper.Slowdown(load);
    paper.Advance(load, 10 * kMillisecond);
    EXPECT_NEAR((before - paper.Rate(load)) / 0.01 / slowdown, 1, 0.01);
    paper.Advance(load, 1990 * kMillisecond);
    EXPECT_NEAR(paper.image_bytes(), 8000 * 1000 * (1 - std::exp(-1.0)), 1);
    paper.Advance(load, kMinute);
    EXPECT_NEAR(paper.image_bytes(), 8000 * 1000, 1);
    EXPECT_NEAR(paper.TouchedPages(), 1000, 0.01);
    EXPECT_NEAR(paper.Rate(load), 1000, 1);
    paper.Request();
    paper.Advance(load, 0);
    EXPECT_EQ(paper.TouchedPages(), 0);
    EXPECT_NEAR(paper.Rate(load), 1000 + 500 * 8000, 1);
    EXPECT_NEAR(paper.record_bytes(), 62 * 1000 + 2 * PaperCheckpointer::kOwnRecords, 1);
}

TEST(PaperCheckpointer, ASetWithoutEndIsLoggedWholeAtEachChange) {
    PaperLoad load;
    load.image_size = 8192;
    load.sets[1] = {0, 100};
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    paper.Advance(load, 100 * kSecond);
    EXPECT_NEAR(paper.image_bytes(), 100 * 100 * 8192, 1);
}

// Rarer checkpoints log fewer images: the effect that makes a small max_wal_size cost so much.
TEST(PaperCheckpointer, ALargerSettingWritesLessWal) {
    PaperLoad load = Steady(2);
    load.sets[0] = {50000, 3000};
    ServerSettings server;
    double before = 0;
    int forced_before = 0;
    for (const Bytes size : {128 * kMiB, 512 * kMiB, 2 * kGiB, 8 * kGiB}) {
        server.max_wal_size = size;
        PaperCheckpointer paper(server, kStart, 0);
        int forced = 0;
        for (const PaperStep& step : Live(paper, load, 30 * kMinute))
            forced += step.event == PaperEvent::kForced;
        const double wal = paper.record_bytes() + paper.image_bytes();
        EXPECT_NEAR(wal, static_cast<double>(paper.position() - kStart), 64);
        if (before > 0) {
            EXPECT_LE(wal, before);
            EXPECT_LE(forced, forced_before);
        }
        before = wal;
        forced_before = forced;
    }
    EXPECT_EQ(forced_before, 0);
}

// The closed form is the same as many small steps, through changes of load and setting.
TEST(PaperCheckpointer, OneStepIsAsGoodAsMany) {
    PaperLoad loads[3] = {Steady(3), Steady(20), Steady(0.5)};
    loads[0].sets[0] = {20000, 800};
    loads[0].sets[1] = {500, 4000};
    loads[1].sets[0] = {20000, 6000};
    loads[2].sets[3] = {0, 30};
    PaperCheckpointer coarse(ServerSettings(), kStart, 0);
    PaperCheckpointer fine(ServerSettings(), kStart, 0);
    int coarse_events = 0;
    int fine_events = 0;
    for (int round = 0; round < 12; ++round) {
        const PaperLoad& load = loads[round % 3];
        ServerSettings server;
        server.max_wal_size = (round % 2 + 1) * 768 * kMiB;
        coarse.Reload(server);
        fine.Reload(server);
        coarse_events += static_cast<int>(Live(coarse, load, 200 * kSecond).size());
        for (int i = 0; i < 20000; ++i)
            fine_events += static_cast<int>(Live(fine, load, 10 * kMillisecond).size());
    }
    EXPECT_GT(coarse_events, 20);
    EXPECT_EQ(coarse_events, fine_events);
    EXPECT_EQ(coarse.now(), fine.now());
    EXPECT_NEAR(static_cast<double>(coarse.position()), static_cast<double>(fine.position()),
                1e-4 * static_cast<double>(fine.position() - kStart));
}

TEST(PaperCheckpointer, ABusyCheckpointerStartsLate) {
    PaperCheckpointer paper(ServerSettings(), kStart, 0);
    paper.BusyUntil(80 * kSecond);
    const PaperStep step = paper.Advance(Steady(10), kHour);
    EXPECT_EQ(step.event, PaperEvent::kForced);
    EXPECT_EQ(step.elapsed, 80 * kSecond);
    EXPECT_NEAR(static_cast<double>(step.wal_bytes), 800.0 * kMiB, 1000);
    // The timer waits likewise.
    paper.BusyUntil(paper.now() + 400 * kSecond);
    EXPECT_EQ(paper.Advance(Steady(0.1), kHour).elapsed, 400 * kSecond);
}

TEST(PaperCheckpointer, ALoweredSettingWorksAtTheNextSegment) {
    ServerSettings server;
    server.max_wal_size = 4 * kGiB;
    PaperCheckpointer paper(server, kStart, 0);
    EXPECT_EQ(paper.Advance(Steady(10), 100 * kSecond).event, PaperEvent::kNone);
    server.max_wal_size = 512 * kMiB;
    paper.Reload(server);
    const PaperStep step = paper.Advance(Steady(10), kHour);
    EXPECT_EQ(step.event, PaperEvent::kForced);
    EXPECT_LE(step.elapsed, 1600 * kMillisecond);
    EXPECT_EQ(paper.redo() % (16 * kMiB), 0U);
}

TEST(PaperCheckpointer, ARaiseInTimePreventsTheForcedCheckpoint) {
    ServerSettings server;
    PaperCheckpointer paper(server, kStart, 0);
    EXPECT_EQ(paper.Advance(Steady(2), 260 * kSecond).event, PaperEvent::kNone);
    server.max_wal_size = 2 * kGiB;
    paper.Reload(server);
    EXPECT_EQ(paper.Advance(Steady(2), kHour).event, PaperEvent::kTimed);
}

TEST(PaperCheckpointer, ExtremesEnd) {
    ServerSettings server;
    server.segment_size = kGiB;
    server.max_wal_size = 2 * kGiB;
    server.completion_target = 0;
    PaperCheckpointer paper(server, 0x7fffffff00000000, 0);
    PaperLoad load = Steady(1e6);
    load.sets[0] = {1e12, 1e12};
    EXPECT_GT(Live(paper, load, kSecond / 100).size(), 3U);
    load = PaperLoad();
    load.records = 1e-9;
    load.sets[0] = {1, 1e9};
    EXPECT_GT(Live(paper, load, 30 * 24 * kHour).size(), 1U);
    EXPECT_EQ(paper.TimeFor(1e18, load, 365 * 24 * kHour), -1);
    EXPECT_EQ(paper.TimeFor(0, load, kSecond), 0);
}

}  // namespace
}  // namespace walsizer
