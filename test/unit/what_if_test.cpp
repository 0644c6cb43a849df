// What the record of one size foretells of others, against what these do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>

#include "paper_server.hpp"

namespace walsizer::test {
namespace {

class WhatIfOf : public testing::Test {
  protected:
    using Load = std::function<PaperLoad(double)>;

    static void Prepare(PaperServer& server, Bytes size, const Load& load) {
        server.settings.checkpoint_timeout = 5 * kMinute;
        server.settings.max_wal_size = size;
        server.load = load;
    }
    static void ExpectForetold(PaperServer& from, Bytes size, const Load& load, Micros duration,
                               double tolerance) {
        PaperServer truth;
        Prepare(truth, size, load);
        truth.commands = from.commands;
        truth.Run(duration);
        const WhatIfRow row = from.Ask(size);
        EXPECT_FALSE(row.is_bound) << size;
        EXPECT_NEAR(row.forced, truth.forced, std::max(1.0, tolerance * truth.forced)) << size / kMiB;
        EXPECT_NEAR(row.timed, truth.timed, std::max(1.0, tolerance * truth.timed)) << size / kMiB;
        EXPECT_NEAR(row.wal_bytes / truth.wal(), 1, tolerance) << size / kMiB;
    }

    static PaperLoad Uniform(double) { return PaperServer::LoadOf(20'000, 100'000, 3'000); }
    static PaperLoad Skewed(double) {
        PaperLoad load = PaperServer::LoadOf(20'000, 500, 2'000);
        load.sets[1] = {20'000, 1'000};
        load.sets[2] = {500'000, 500};
        return load;
    }
    // Two minutes of load in ten; the rest is nearly idle.
    static PaperLoad Bursts(double seconds) {
        return std::fmod(seconds, 600) < 120 ? PaperServer::LoadOf(60'000, 50'000, 8'000)
                                             : PaperServer::LoadOf(100, 50'000, 10);
    }
};

TEST_F(WhatIfOf, TheLargestSizeForetellsAllSmallerOnes) {
    for (const Load& load : {Load(Uniform), Load(Skewed), Load(Bursts)}) {
        PaperServer server;
        Prepare(server, 16 * kGiB, load);
        server.Run(kHour);
        for (Bytes size : {256 * kMiB, 512 * kMiB, 1024 * kMiB, 2048 * kMiB, 4096 * kMiB})
            ExpectForetold(server, size, load, kHour, 0.2);
    }
}

TEST_F(WhatIfOf, AnySizeForetellsFourTimesItself) {
    for (const Load& load : {Load(Uniform), Load(Skewed)})
        for (Bytes own : {256 * kMiB, 512 * kMiB, 1024 * kMiB}) {
            PaperServer server;
            Prepare(server, own, load);
            server.Run(kHour);
            ExpectForetold(server, 2 * own, load, kHour, 0.15);
            ExpectForetold(server, 4 * own, load, kHour, 0.2);
        }
}

TEST_F(WhatIfOf, BeyondFourTimesItSaysAtMostAndIsRight) {
    for (const Load& load : {Load(Uniform), Load(Skewed)}) {
        PaperServer server;
        Prepare(server, 128 * kMiB, load);
        server.Run(kHour);
        PaperServer truth;
        Prepare(truth, 8 * kGiB, load);
        truth.Run(kHour);
        const WhatIfRow row = server.Ask(8 * kGiB);
        EXPECT_TRUE(row.is_bound);
        EXPECT_GE(row.forced, truth.forced);
        EXPECT_GT(row.wal_bytes, 0.97 * truth.wal());
    }
}

// A larger size whose cycles the timer ends before they grow is as well known as the present one.
TEST_F(WhatIfOf, ASizeThatIsNeverReachedIsNoBound) {
    PaperServer server;
    Prepare(server, 2 * kGiB, Uniform);
    server.Run(kHour);
    EXPECT_FALSE(server.Ask(1024 * kGiB).is_bound);
    ExpectForetold(server, 1024 * kGiB, Uniform, kHour, 0.05);
}

TEST_F(WhatIfOf, TheOwnSizeIsReproduced) {
    for (Bytes own : {128 * kMiB, 512 * kMiB, 4096 * kMiB}) {
        PaperServer server;
        Prepare(server, own, Uniform);
        server.Run(kHour);
        ExpectForetold(server, own, Uniform, kHour, 0.05);
    }
}

TEST_F(WhatIfOf, CommandsAreReplayedAsTheyWere) {
    PaperServer server;
    Prepare(server, 16 * kGiB, Uniform);
    for (double at = 100; at < 3600; at += 100) server.commands.push_back(at);
    server.Run(kHour);
    const WhatIfRow row = server.Ask(16 * kGiB);
    EXPECT_NEAR(row.requested, server.requested, 1);
    EXPECT_NEAR(row.timed, server.timed, 1);
    // Rarer checkpoints are not to be had by a larger size: the commands stay.
    EXPECT_NEAR(row.wal_bytes / server.wal(), 1, 0.05);
    ExpectForetold(server, 512 * kMiB, Uniform, kHour, 0.15);
}

// Statistics that come once a minute are spread over the buckets they belong to.
TEST_F(WhatIfOf, LateStatisticsCostLittle) {
    PaperServer server;
    Prepare(server, 16 * kGiB, Uniform);
    server.report_interval = kMinute;
    server.Run(kHour);
    EXPECT_GT(Summarize(server.buckets, 0).covered, 0.9);
    for (Bytes size : {512 * kMiB, 1024 * kMiB}) ExpectForetold(server, size, Uniform, kHour, 0.2);
}

// 13, or a standby: WAL is replayed as it is, with the images it had.
TEST_F(WhatIfOf, WithoutStatisticsWalStaysAsItWas) {
    PaperServer server;
    Prepare(server, 16 * kGiB, Uniform);
    server.statistics = false;
    server.Run(kHour);
    EXPECT_EQ(Summarize(server.buckets, 0).covered, 0);
    const WhatIfRow row = server.Ask(512 * kMiB);
    EXPECT_NEAR(row.wal_bytes / server.wal(), 1, 0.01);
    EXPECT_GT(row.forced, 0);
}

TEST_F(WhatIfOf, SinceLimitsTheRecord) {
    PaperServer server;
    Prepare(server, 16 * kGiB, Bursts);
    server.Run(kHour);
    const Timestamp end = kHour + kSecond;
    const RecordSummary part = Summarize(server.buckets, end - 10 * kMinute);
    EXPECT_NEAR(part.seconds, 600, 15);
    EXPECT_NEAR(Summarize(server.buckets, 0).seconds, 3600, 15);
    EXPECT_EQ(Summarize(server.buckets, end).buckets, 0U);
    EXPECT_LT(server.Ask(256 * kMiB, end - 10 * kMinute).wal_bytes, server.Ask(256 * kMiB).wal_bytes / 4);
}

TEST_F(WhatIfOf, NothingRecordedForetellsNothing) {
    PaperServer server;
    const WhatIfRow row = server.Ask(kGiB);
    EXPECT_EQ(row.forced + row.timed + row.requested, 0);
    EXPECT_LT(row.wal_bytes, 1000);  // the first checkpoint's own record
    EXPECT_EQ(row.trigger_size, 33 * 16 * kMiB);
}

TEST_F(WhatIfOf, BytesOfAnyOriginAreReplayedInBoundedTime) {
    PaperServer server;
    for (unsigned char fill : {0x00, 0x41, 0x7F, 0x80, 0xC1, 0xFF})
        for (int i = 0; i < 3; ++i) {
            WalBucket bucket;
            std::memset(static_cast<void*>(&bucket), fill, sizeof(bucket));
            MendBucket(bucket);
            server.buckets.Push(bucket);
        }
    const WhatIfRow row = server.Ask(16 * kGiB);
    EXPECT_TRUE(std::isfinite(row.wal_bytes));
    EXPECT_GE(row.forced, 0);
}

TEST(SizeLadderOf, HoldsEachSizeOnceAndRises) {
    const ServerSettings server = {kGiB, 16 * kMiB, 0.9, 5 * kMinute};
    const SizeLadder ladder = LadderOf(server, {kGiB, 3 * kGiB}, 4 * kGiB);
    const Bytes expected[] = {256 * kMiB, 512 * kMiB, kGiB, 2 * kGiB, 3 * kGiB, 4 * kGiB};
    ASSERT_EQ(ladder.count, std::size(expected));
    for (unsigned i = 0; i < ladder.count; ++i) EXPECT_EQ(ladder.sizes[i], expected[i]);
}

TEST(SizeLadderOf, StaysWithinItsBounds) {
    const ServerSettings server = {64 * kMiB, kMiB, 0.9, 5 * kMinute};
    const SizeLadder tall = LadderOf(server, {64 * kMiB, 96 * kMiB}, kLargestMaxWalSize);
    EXPECT_LE(tall.count, SizeLadder::kMost);
    EXPECT_EQ(tall.sizes[0], 64 * kMiB);
    EXPECT_TRUE(std::is_sorted(tall.sizes, tall.sizes + tall.count));
    // Below the ladder's first step there are only the two that are marked.
    EXPECT_EQ(LadderOf(server, {64 * kMiB, 96 * kMiB}, 128 * kMiB).count, 2U);
}

TEST(ExplainedRow, MarksSizesAndBounds) {
    RecordSummary record;
    record.largest_cycle = static_cast<double>(528 * kMiB);
    const auto explain = [&](Bytes size, bool bound, const char* unknown) {
        WhatIfRow row;
        row.max_wal_size = size;
        row.is_bound = bound;
        const std::string note = ExplainRow({kGiB, 2 * kGiB}, record, unknown, row).c_str();
        return (row.is_bound ? "bound|" : "|") + note;
    };
    EXPECT_EQ(explain(kGiB, false, nullptr), "|present");
    EXPECT_EQ(explain(kGiB, false, "nobody knows"), "|present");
    EXPECT_EQ(explain(2 * kGiB, false, nullptr), "|recommended");
    EXPECT_EQ(explain(4 * kGiB, false, nullptr), "|");
    EXPECT_EQ(explain(512 * kMiB, false, "nobody knows"),
              "bound|bound: at least this much, since nobody knows");
    EXPECT_EQ(explain(2 * kGiB, true, "nobody knows"),
              "bound|recommended; bound: at most this much, since nobody knows");
    EXPECT_NE(explain(8 * kGiB, true, nullptr).find("no cycle on record was longer than 528 MB"),
              std::string::npos);
}

}  // namespace
}  // namespace walsizer::test
