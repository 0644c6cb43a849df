#include "walsizer/postgres_rules.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace walsizer {
namespace {

// xlog.c:CalculateCheckpointSegments() and ConvertToXSegs(), written down a second time in PostgreSQL's own
// units.
std::int64_t PostgresSegments(std::int64_t max_wal_size_mb, std::int64_t segment_bytes, double target) {
    const double segments = static_cast<double>(max_wal_size_mb / (segment_bytes / (1024 * 1024)));
    const auto count = static_cast<std::int64_t>(segments / (1.0 + target));
    return count < 1 ? 1 : count;
}

// Segments finished when `distance` bytes follow a redo point `offset` bytes into its segment.
std::int64_t FinishedSegments(Bytes offset, Bytes distance, Bytes segment) {
    return (offset + distance) / segment;
}

ServerSettings With(Bytes max_wal_size, double target, Bytes segment = 16 * kMiB) {
    ServerSettings server;
    server.max_wal_size = max_wal_size;
    server.completion_target = target;
    server.segment_size = segment;
    return server;
}

TEST(CheckpointSegments, MatchesEveryPublishedExample) {
    EXPECT_EQ(CheckpointSegments(With(kGiB, 0.9)), 33);
    EXPECT_EQ(TriggerSize(kGiB, With(kGiB, 0.9)), 540672 * kKiB);
    EXPECT_EQ(CheckpointSegments(With(kGiB, 0.5)), 42);
    EXPECT_EQ(TriggerSize(kGiB, With(kGiB, 0.5)), 688128 * kKiB);
    EXPECT_EQ(CheckpointSegments(With(128 * kMiB, 0.9)), 4);
    EXPECT_EQ(CheckpointSegments(With(64 * kMiB, 0.9)), 2);
    EXPECT_EQ(CheckpointSegments(With(32 * kMiB, 0.9)), 1);
    EXPECT_EQ(CheckpointSegments(With(kGiB, 0.9, 64 * kMiB)), 8);
    EXPECT_EQ(TriggerSize(kGiB, With(kGiB, 0.9, 64 * kMiB)), 524288 * kKiB);
}

TEST(CheckpointSegments, IsAtLeastOneAndDropsPartSegmentsBeforeTheDivision) {
    EXPECT_EQ(CheckpointSegments(With(2 * kMiB, 0.9)), 1);
    EXPECT_EQ(CheckpointSegments(With(16 * kMiB, 1.0, 1024 * kMiB)), 1);
    EXPECT_EQ(CheckpointSegments(With(31 * kMiB, 0.0)), 1);
    EXPECT_EQ(CheckpointSegments(With(33 * kMiB, 0.0)), 2);
}

TEST(CheckpointSegments, EqualsPostgresForAllSegmentSizesAndTargets) {
    for (Bytes segment = kMiB; segment <= kGiB; segment *= 2)
        for (int percent = 0; percent <= 100; ++percent)
            for (std::int64_t mb :
                 {2, 31, 32, 64, 128, 1000, 1024, 4096, 10000, 65536, 1048576, 2147483647}) {
                const double target = percent / 100.0;
                ASSERT_EQ(CheckpointSegments(With(mb * kMiB, target, segment)),
                          PostgresSegments(mb, segment, target))
                    << mb << " MB, segment " << segment << ", target " << target;
            }
}

TEST(ReachedTrigger, CountsFinishedSegmentsAndNotBytes) {
    const Bytes segment = 16 * kMiB;
    const Lsn start = 100 * segment;
    // 64MB and 0.9: two segments. 20 MB from a segment's start is more than (2 - 1) segments and forces
    // nothing.
    EXPECT_FALSE(ReachedTrigger(start, start + 20 * kMiB, 2, segment));
    EXPECT_FALSE(ReachedTrigger(start, start + 2 * segment - 1, 2, segment));
    EXPECT_TRUE(ReachedTrigger(start, start + 2 * segment, 2, segment));
    // From a segment's last byte, one segment and a byte suffice.
    EXPECT_FALSE(ReachedTrigger(start + segment - 1, start + 2 * segment - 1, 2, segment));
    EXPECT_TRUE(ReachedTrigger(start + segment - 1, start + 2 * segment, 2, segment));
}

TEST(ReachedTrigger, WithOneSegmentEveryFinishedSegmentAsks) {
    const Bytes segment = 16 * kMiB;
    EXPECT_FALSE(ReachedTrigger(5 * segment + 7, 6 * segment - 1, 1, segment));
    EXPECT_TRUE(ReachedTrigger(6 * segment - 1, 6 * segment, 1, segment));
}

TEST(ReachedTrigger, IsNotFooledByPositionsThatGoBack) {
    EXPECT_FALSE(ReachedTrigger(Lsn{50} * kGiB, Lsn{1} * kGiB, 1, 16 * kMiB));
    EXPECT_FALSE(ReachedTrigger(Lsn{50} * kGiB, 0, 33, 16 * kMiB));
}

TEST(TriggerPosition, IsTheFirstPositionThatReachesTheTrigger) {
    for (Bytes segment = kMiB; segment <= kGiB; segment *= 2)
        for (Bytes offset : {Bytes{0}, Bytes{1}, segment / 2, segment - 1})
            for (std::int64_t segments : {1, 2, 33, 5000}) {
                const Lsn redo = 7 * static_cast<Lsn>(segment) + static_cast<Lsn>(offset);
                const Lsn trigger = TriggerPosition(redo, segments, segment);
                ASSERT_TRUE(ReachedTrigger(redo, trigger, segments, segment));
                ASSERT_FALSE(ReachedTrigger(redo, trigger - 1, segments, segment));
            }
}

class SizeForDistanceSweep : public testing::TestWithParam<Bytes> {};

TEST_P(SizeForDistanceSweep, IsSufficientAtAnyRedoOffsetAndMinimalToASegment) {
    const Bytes segment = GetParam();
    for (int percent = 0; percent <= 100; percent += 1) {
        const ServerSettings server = With(kGiB, percent / 100.0, segment);
        const auto segments_of = [&](Bytes size) {
            return PostgresSegments(size / kMiB, segment, server.completion_target);
        };
        for (std::int64_t whole :
             {0, 1, 2, 3, 5, 9, 10, 19, 20, 33, 57, 99, 100, 190, 333, 500, 950, 1000, 4999})
            for (Bytes extra : {Bytes{-1}, Bytes{0}, Bytes{1}, segment / 3, segment / 2}) {
                const Bytes distance = whole * segment + extra;
                if (distance < 0) continue;
                const Bytes size = SizeForDistance(static_cast<double>(distance), server);
                ASSERT_EQ(size % segment, 0);
                ASSERT_GE(size, 2 * segment);
                for (Bytes offset : {Bytes{0}, Bytes{1}, segment / 2, segment - 1})
                    ASSERT_LT(FinishedSegments(offset, distance, segment), segments_of(size))
                        << "insufficient: " << distance << " bytes, offset " << offset << ", target "
                        << percent;
                if (size > 2 * segment) {
                    ASSERT_GE(FinishedSegments(segment - 1, distance, segment), segments_of(size - segment))
                        << "not minimal: " << distance << " bytes, target " << percent << " %, size " << size;
                }
            }
    }
}

INSTANTIATE_TEST_SUITE_P(SegmentSizes, SizeForDistanceSweep,
                         testing::Values(1 * kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB, 32 * kMiB,
                                         64 * kMiB, 128 * kMiB, 256 * kMiB, 512 * kMiB, 1024 * kMiB));

TEST(SizeForDistance, StaysWithinWhatPostgresAccepts) {
    for (Bytes segment = kMiB; segment <= kGiB; segment *= 2) {
        const ServerSettings server = With(kGiB, 0.9, segment);
        EXPECT_EQ(SizeForDistance(0, server), std::max(SmallestMaxWalSize(server), Bytes{2 * segment}));
        EXPECT_EQ(SizeForDistance(-5e18, server), 2 * segment);
        const Bytes largest = SizeForDistance(1e30, server);
        EXPECT_LE(largest, kLargestMaxWalSize);
        EXPECT_EQ(largest % segment, 0);
    }
}

TEST(Rounding, KeepsWholeSegmentsAndNeverExceedsTheLargestValue) {
    const ServerSettings server = With(kGiB, 0.9);
    EXPECT_EQ(RoundUpToSegments(static_cast<double>(kGiB), server), kGiB);
    EXPECT_EQ(RoundUpToSegments(static_cast<double>(kGiB + 1), server), kGiB + 16 * kMiB);
    EXPECT_EQ(RoundDownToSegments(kGiB + 1, server), kGiB);
    EXPECT_EQ(RoundDownToSegments(16 * kMiB - 1, server), 0);
    EXPECT_EQ(RoundUpToSegments(9e18, server),
              kLargestMaxWalSize / server.segment_size * server.segment_size);
}

}  // namespace
}  // namespace walsizer
