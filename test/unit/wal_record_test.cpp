// The record of WAL, bucket by bucket.
#include "walsizer/wal_record.hpp"

#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Record : public testing::Test {
  protected:
    Record() {
        rig.server.settings.checkpoint_timeout = 5 * kMinute;
        rig.server.settings.max_wal_size = 16 * kGiB;
        rig.settings.enable = false;
        rig.server.load = [](double) { return Load{MB(2), MB(4), 60}; };
    }
    double Sum(float WalBucket::*field) {
        double sum = 0;
        for (std::uint32_t age = 0; age < rig.journal.buckets.size(); ++age)
            sum += static_cast<double>(rig.journal.buckets.Newest(age).*field);
        return sum;
    }
    Rig rig;
};

TEST_F(Record, HoldsAllWalInBucketsOfAThirtiethOfTheTimeout) {
    const double start = rig.server.position;
    rig.Run(10 * kMinute + kSecond / 2);
    EXPECT_NEAR(rig.journal.buckets.size(), 60, 1);
    EXPECT_NEAR(Sum(&WalBucket::wal_bytes) / (rig.server.position - start), 1, 0.02);
    EXPECT_NEAR(Sum(&WalBucket::seconds), 600, 11);
    EXPECT_GE(rig.journal.buckets.Newest(0).image_bytes, 0);
}

TEST_F(Record, TellsWhereTheRedoPointIs) {
    rig.Run(12 * kMinute);
    int moves = 0;
    for (std::uint32_t age = 0; age < rig.journal.buckets.size(); ++age)
        moves += rig.journal.buckets.Newest(age).moves;
    EXPECT_EQ(moves, 2);
    const double since = static_cast<double>(rig.journal.buckets.Newest(0).since_redo);
    const auto real = rig.server.position - static_cast<double>(rig.server.redo);
    EXPECT_NEAR(since, real, MB(60));  // written since the bucket closed
    EXPECT_GT(since, real / 2);
}

TEST_F(Record, TellsCommandsFromTheRest) {
    rig.Run(kMinute);
    rig.server.RequestCheckpoint();
    rig.Run(10 * kMinute);
    int requests = 0;
    for (std::uint32_t age = 0; age < rig.journal.buckets.size(); ++age)
        requests += rig.journal.buckets.Newest(age).requests;
    EXPECT_EQ(requests, 1);
}

TEST_F(Record, MergesTimeInWhichNothingHappens) {
    rig.server.load = [](double) { return Load{100, 0, 1}; };
    rig.Run(3 * kHour);
    EXPECT_LE(rig.journal.buckets.size(), 5U);
    EXPECT_NEAR(Sum(&WalBucket::seconds), 3 * 3600, 20);
}

TEST_F(Record, KeepsADayAtTheDefaultTimeoutAndIsBounded) {
    rig.server.load = [](double) { return Load{MB(1), 0, 1}; };
    rig.Run(26 * kHour);
    EXPECT_EQ(rig.journal.buckets.size(), kBucketCapacity);
    EXPECT_GE(Sum(&WalBucket::seconds), 24 * 3600);
    EXPECT_EQ(sizeof(WalBucket), 32U);
}

TEST_F(Record, WithoutStatisticsTellsNoImages) {
    rig.server.wal_statistics = false;
    rig.Run(10 * kMinute);
    EXPECT_EQ(rig.journal.buckets.Newest(0).image_bytes, -1);
    EXPECT_FALSE(rig.tuner.tracker().images().Fit().known);
}

// A running statement reports at its end: until then its buckets are unknown, then they are known.
TEST_F(Record, WaitsForTheStatisticsOfALongStatement) {
    rig.server.statistics_coverage = 0.1;
    rig.Run(2 * kMinute);
    EXPECT_EQ(rig.journal.buckets.Newest(0).image_bytes, -1);
    rig.server.statistics_coverage = 1;
    rig.Run(kMinute);
    for (std::uint32_t age = 0; age < rig.journal.buckets.size(); ++age)
        EXPECT_GE(rig.journal.buckets.Newest(age).image_bytes, 0) << age;
}

TEST_F(Record, OfAStandbyHoldsNoCatchUp) {
    rig.server.in_recovery = true;
    rig.Run(5 * kMinute);
    EXPECT_EQ(rig.journal.buckets.size(), 0U);
}

TEST_F(Record, TellsWhatFollowsEachOtherWithoutAGap) {
    WalBucket before;
    before.seconds = 10;
    WalBucket after;
    after.start = before.start + 10 * kSecond;
    EXPECT_TRUE(Follows(before, after));
    after.start += 30 * kSecond;
    EXPECT_FALSE(Follows(before, after));
}

TEST_F(Record, IsClearedByResetWhileWhatWasLearnedStays) {
    rig.Run(20 * kMinute);
    ASSERT_TRUE(rig.tuner.tracker().images().Fit().known);
    rig.Ask(CommandKind::kReset);
    EXPECT_EQ(rig.journal.buckets.size(), 0U);
    EXPECT_TRUE(rig.tuner.tracker().images().Fit().known);
    rig.Run(kMinute);
    EXPECT_GT(rig.journal.buckets.size(), 4U);
}

}  // namespace
}  // namespace walsizer::test
