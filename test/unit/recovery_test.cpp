// How long crash recovery takes: what is learned from samples, what they cannot teach, and what replay on a
// standby may add to it.
#include <gtest/gtest.h>

#include <initializer_list>

#include "rig.hpp"
#include "walsizer/recovery.hpp"

namespace walsizer::test {
namespace {

constexpr double kFixed = 3;  // seconds
const double kRate = MB(100);
constexpr double kTenPercent = 0.1;
constexpr double kMargin = 1.5;  // of the worst case over what was measured

Micros Seconds(double seconds) {
    return static_cast<Micros>(seconds * kSecond);
}

RecoverySample Exact(Bytes megabytes, double times = 1) {
    const Bytes bytes = megabytes * kMiB;
    return {bytes, Seconds(times * (kFixed + static_cast<double>(bytes) / kRate))};
}

RecoverySamples Learned(std::initializer_list<RecoverySample> oldest_first) {
    RecoverySamples samples;
    for (const RecoverySample& sample : oldest_first) samples.Add(sample);
    return samples;
}

RecoveryModel Measured(const RecoverySamples& samples) {
    return ModelRecovery(samples, 0, 0);
}

void ExpectTheTruth(const RecoveryModel& model) {
    EXPECT_EQ(model.source, ReplayRateSource::kMeasured);
    EXPECT_NEAR(model.rate, kRate, kRate * kTenPercent);
    EXPECT_NEAR(model.fixed_seconds, kFixed, kFixed * kTenPercent);
}

TEST(Recovery, OfANewServerIsAssumed) {
    const RecoveryModel model = Measured({});
    EXPECT_EQ(model.source, ReplayRateSource::kAssumed);
    EXPECT_STREQ(Name(model.source), "assumed");
    EXPECT_DOUBLE_EQ(model.rate, MB(64));
    EXPECT_DOUBLE_EQ(model.fixed_seconds, 0);
    EXPECT_EQ(model.Estimate(640 * kMiB), 10 * kSecond);
    EXPECT_EQ(model.SizeWithin(5 * kMinute), 300 * 64 * kMiB);
}

// Fixed part and rate cannot be told apart: all of the time counts as replay, which never promises too much.
TEST(Recovery, OfOneSampleTakesAllItsTimeAsReplay) {
    const RecoverySample sample = Exact(1000);
    const RecoveryModel model = Measured(Learned({sample}));
    EXPECT_EQ(model.source, ReplayRateSource::kMeasured);
    EXPECT_STREQ(Name(model.source), "measured");
    EXPECT_DOUBLE_EQ(model.fixed_seconds, 0);
    EXPECT_NEAR(model.rate, static_cast<double>(sample.bytes) / (static_cast<double>(sample.time) / kSecond),
                1);
    EXPECT_NEAR(static_cast<double>(model.Estimate(sample.bytes)), kMargin * static_cast<double>(sample.time),
                10);
    EXPECT_GT(model.Estimate(4000 * kMiB), Exact(4000).time);
}

TEST(Recovery, OfSamplesOfOneSizeTakesAllTheirTimeAsReplay) {
    const RecoveryModel model = Measured(Learned({Exact(1000), Exact(1050), Exact(1100)}));
    EXPECT_DOUBLE_EQ(model.fixed_seconds, 0);
    EXPECT_GT(model.Estimate(4000 * kMiB), Exact(4000).time);
    EXPECT_LT(model.rate, kRate);
}

TEST(Recovery, OfSeveralSamplesTellsTheFixedPartFromTheRate) {
    ExpectTheTruth(Measured(Learned({Exact(200), Exact(2000)})));
    ExpectTheTruth(Measured(Learned({Exact(2000), Exact(200)})));
    ExpectTheTruth(Measured(Learned({Exact(300), Exact(900), Exact(2700)})));
    ExpectTheTruth(Measured(Learned({Exact(1600), Exact(200), Exact(3200), Exact(400), Exact(800)})));
}

TEST(Recovery, OfSamplesWithSomeNoiseIsNearTheTruth) {
    const RecoveryModel model = Measured(
        Learned({Exact(400, 1.02), Exact(800, 0.98), Exact(1600, 1.01), Exact(3200, 0.99), Exact(6400)}));
    EXPECT_NEAR(model.rate, kRate, kRate * kTenPercent);
    const auto truth = kMargin * static_cast<double>(Exact(16384).time);
    EXPECT_NEAR(static_cast<double>(model.Estimate(16384 * kMiB)), truth, truth * kTenPercent);
}

// Wherever it stands among the sizes, whenever it came.
TEST(Recovery, IsNotMovedByOneColdSampleAmongFive) {
    constexpr Bytes kSizes[] = {200, 400, 800, 1600, 3200};
    for (Bytes cold : kSizes) {
        RecoverySamples samples;
        for (Bytes size : kSizes) samples.Add(Exact(size, size == cold ? 10 : 1));
        SCOPED_TRACE(cold);
        ExpectTheTruth(Measured(samples));
    }
}

// The very first recovery is the cold one: growth stops at it, but not for good.
TEST(Recovery, OutgrowsAColdFirstSample) {
    RecoverySamples samples = Learned({Exact(800, 10)});
    EXPECT_LT(Measured(samples).rate, kRate / 5);
    for (Bytes size : {200, 400, 1600, 3200}) samples.Add(Exact(size));
    ExpectTheTruth(Measured(samples));
    samples.Add(Exact(600));
    for (const RecoverySample& sample : samples.samples) EXPECT_NE(sample.time, Exact(800, 10).time);
    ExpectTheTruth(Measured(samples));
}

TEST(Recovery, KeepsTheLastFiveNewestFirst) {
    RecoverySamples samples;
    for (Bytes size : {100, 200, 300, 400, 500, 600, 700}) samples.Add(Exact(size));
    ASSERT_EQ(samples.count, RecoverySamples::kKept);
    for (Bytes i = 0; i < 5; ++i) EXPECT_EQ(samples.samples[i].bytes, (700 - 100 * i) * kMiB);
}

TEST(Recovery, TooSmallToMeanAnythingIsNotKept) {
    RecoverySamples samples;
    samples.Add({0, kSecond});
    samples.Add({4 * kMiB, 2 * kSecond});
    samples.Add({32 * kMiB - 1, kSecond});
    samples.Add({kGiB, 0});
    samples.Add({kGiB, 10 * kMillisecond - 1});
    samples.Add({kGiB, -kSecond});
    samples.Add({-kGiB, kSecond});
    EXPECT_EQ(samples.count, 0U);
    EXPECT_EQ(Measured(samples).source, ReplayRateSource::kAssumed);
    samples.Add({32 * kMiB, 10 * kMillisecond});
    EXPECT_EQ(samples.count, 1U);
}

// The smaller one took longer: no line through them means anything, and the rate must stay a positive number.
TEST(Recovery, OfContradictingSamplesIsStillARate) {
    const RecoveryModel model = Measured(Learned({{200 * kMiB, 40 * kSecond}, {2000 * kMiB, 20 * kSecond}}));
    EXPECT_DOUBLE_EQ(model.fixed_seconds, 0);
    EXPECT_GT(model.rate, MB(1));
    EXPECT_LE(model.rate, MB(100) + 1);
}

// A count that a damaged history brought.
TEST(Recovery, ReadsNoSampleBeyondThoseThatAreKept) {
    RecoverySamples samples = Learned({Exact(1600), Exact(200), Exact(3200), Exact(400), Exact(800)});
    samples.count = 4000;
    ExpectTheTruth(Measured(samples));
    samples.Add(Exact(500));
    EXPECT_EQ(samples.count, RecoverySamples::kKept);
}

TEST(Recovery, ConfiguredWins) {
    for (const RecoverySamples& samples : {RecoverySamples(), Learned({Exact(200), Exact(2000)})}) {
        for (double seen : {0.0, MB(500)}) {
            const RecoveryModel model = ModelRecovery(samples, MB(20), seen);
            EXPECT_EQ(model.source, ReplayRateSource::kConfigured);
            EXPECT_STREQ(Name(model.source), "configured");
            EXPECT_DOUBLE_EQ(model.rate, MB(20));
            EXPECT_DOUBLE_EQ(model.fixed_seconds, 0);
        }
    }
}

TEST(Recovery, WhatAStandbyReplaysRaisesTheAssumedRateOnly) {
    EXPECT_DOUBLE_EQ(ModelRecovery({}, 0, MB(150)).rate, MB(150));
    EXPECT_EQ(ModelRecovery({}, 0, MB(150)).source, ReplayRateSource::kAssumed);
    EXPECT_DOUBLE_EQ(ModelRecovery({}, 0, MB(5)).rate, MB(64));  // the primary wrote no more
    for (double seen : {MB(5), MB(500)}) {
        EXPECT_DOUBLE_EQ(ModelRecovery(Learned({Exact(1000)}), 0, seen).rate,
                         Measured(Learned({Exact(1000)})).rate);
        ExpectTheTruth(ModelRecovery(Learned({Exact(200), Exact(2000)}), 0, seen));
    }
}

TEST(Recovery, EstimateAndSizeWithinAreInverse) {
    for (const RecoveryModel& model :
         {Measured({}), Measured(Learned({Exact(1000)})), Measured(Learned({Exact(200), Exact(2000)})),
          ModelRecovery({}, MB(7), 0), ModelRecovery({}, 0, MB(150))}) {
        for (Bytes size : {64 * kMiB, kGiB, 16 * kGiB, 1024 * kGiB})
            EXPECT_NEAR(static_cast<double>(model.SizeWithin(model.Estimate(size))),
                        static_cast<double>(size), kMiB);
        for (Micros limit : {10 * kSecond, kMinute, 5 * kMinute, kHour})
            EXPECT_NEAR(static_cast<double>(model.Estimate(model.SizeWithin(limit))),
                        static_cast<double>(limit), 10);
    }
}

TEST(Recovery, SizeWithinHasBounds) {
    const RecoveryModel model = Measured(Learned({Exact(200), Exact(2000)}));
    EXPECT_EQ(model.SizeWithin(Seconds(kFixed / 2)), 0);  // less than the fixed part alone
    EXPECT_EQ(model.SizeWithin(0), 0);
    EXPECT_EQ(ModelRecovery({}, 1e15, 0).SizeWithin(24 * kHour), kLargestMaxWalSize);
    RecoveryModel nothing;
    EXPECT_GT(nothing.Estimate(kLargestMaxWalSize), 0);
    EXPECT_EQ(nothing.SizeWithin(kHour), 0);
}

class ReplayOnAStandby : public testing::Test {
  protected:
    ReplayOnAStandby() {
        rig.server.in_recovery = true;
        rig.server.settings.max_wal_size = 4 * kGiB;
        rig.settings.max_recovery_time = 5 * kMinute;
        Replay(120);
    }
    void Replay(double megabytes) {
        rig.server.load = [megabytes](double) { return Load{MB(megabytes), 0, 1}; };
    }
    double Rate() const { return rig.tuner.recovery().rate; }
    Rig rig;
};

TEST_F(ReplayOnAStandby, RaisesTheAssumedRateWhenItIsSustained) {
    rig.Run(kSecond);
    EXPECT_DOUBLE_EQ(Rate(), MB(64));
    EXPECT_EQ(rig.tuner.ceiling().size, 300 * 64 * kMiB);
    rig.Run(31 * kSecond);
    EXPECT_NEAR(Rate(), MB(120), MB(2));
    EXPECT_EQ(rig.tuner.recovery().source, ReplayRateSource::kAssumed);
    EXPECT_EQ(rig.tuner.ceiling().governs, Limit::kRecoveryTime);
    EXPECT_NEAR(static_cast<double>(rig.tuner.ceiling().size), 300 * MB(120), 300 * MB(2));
}

TEST_F(ReplayOnAStandby, IsALowerBoundThatSlowReplayDoesNotTakeBack) {
    rig.Run(35 * kSecond);
    const double before = Rate();
    Replay(2);
    rig.Run(5 * kMinute);
    EXPECT_DOUBLE_EQ(Rate(), before);
    rig.RestartTuner();
    EXPECT_DOUBLE_EQ(Rate(), before);
}

TEST_F(ReplayOnAStandby, OfABurstIsNotSustained) {
    Replay(4);
    rig.Run(kSecond);
    rig.server.load = [](double second) { return Load{second < 10 ? MB(120) : MB(4), 0, 1}; };
    rig.Run(2 * kMinute);
    EXPECT_DOUBLE_EQ(Rate(), MB(64));
}

TEST_F(ReplayOnAStandby, EndsWithPromotion) {
    rig.Run(20 * kSecond);
    rig.server.Promote();
    rig.Run(5 * kMinute);  // what a primary writes is no replay
    EXPECT_DOUBLE_EQ(Rate(), MB(64));
}

TEST_F(ReplayOnAStandby, NeverChangesAMeasuredOrAConfiguredRate) {
    rig.tuner.LearnRecovery(Exact(200));
    rig.tuner.LearnRecovery(Exact(2000));
    rig.Run(35 * kSecond);
    ExpectTheTruth(rig.tuner.recovery());
    rig.settings.replay_rate = MB(30);
    rig.Run(2 * kSecond);
    EXPECT_DOUBLE_EQ(Rate(), MB(30));
    EXPECT_EQ(rig.tuner.recovery().source, ReplayRateSource::kConfigured);
}

TEST_F(ReplayOnAStandby, AndRecoveriesOfAnotherServerAreForgotten) {
    Identity here;
    here.system_identifier = 1;
    here.data_directory.Set("here");
    EXPECT_FALSE(rig.tuner.Identify(here));
    rig.Run(35 * kSecond);
    rig.tuner.LearnRecovery(Exact(1000));
    ASSERT_FALSE(rig.tuner.Identify(here));
    EXPECT_EQ(rig.tuner.recovery().source, ReplayRateSource::kMeasured);
    Identity copy = here;
    copy.data_directory.Set("there");
    EXPECT_TRUE(rig.tuner.Identify(copy));
    EXPECT_EQ(rig.tuner.recovery().source, ReplayRateSource::kAssumed);
    EXPECT_DOUBLE_EQ(Rate(), MB(64));
}

}  // namespace
}  // namespace walsizer::test
