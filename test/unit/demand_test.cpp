#include "walsizer/demand.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

constexpr Micros kTimeout = 300 * kSecond;

TEST(DemandMeter, ABurstOf15SecondsAt30MegabytesPerSecondIsItsOwnVolumeAndNotRateTimesTimeout) {
    DemandMeter meter;
    double position = MB(1000);
    double most = 0;
    for (int second = 0; second < 1200; ++second) {
        if (second >= 400 && second < 415) position += MB(30);
        position += MB(0.036);  // a trickle
        meter.Look(second * kSecond, static_cast<Lsn>(position), kTimeout);
        const Stretch stretch = meter.Latest(kTimeout);
        if (stretch.complete) most = std::max(most, stretch.bytes);
    }
    EXPECT_NEAR(most, MB(461), MB(461) * 0.02);
}

TEST(DemandMeter, ASteadyLoadIsMeasuredExactly) {
    DemandMeter meter;
    for (int second = 0; second <= 700; ++second) {
        meter.Look(second * kSecond, static_cast<Lsn>(second * MB(2)), kTimeout);
        const Stretch stretch = meter.Latest(kTimeout);
        EXPECT_EQ(stretch.complete, second >= 300);
        EXPECT_EQ(stretch.watched, std::min(second, 300) * kSecond);
        EXPECT_NEAR(stretch.bytes, std::min(second, 300) * MB(2), MB(0.1));
    }
}

TEST(DemandMeter, NothingWasWatchedBeforeTheFirstLook) {
    const DemandMeter meter;
    const Stretch stretch = meter.Latest(kTimeout);
    EXPECT_FALSE(stretch.complete);
    EXPECT_EQ(stretch.bytes, 0);
    EXPECT_EQ(stretch.watched, 0);
}

TEST(DemandMeter, ASlowDriftOfLooksKeepsAWholeTimeoutInView) {
    for (Micros spacing : {50 * kMillisecond, 250 * kMillisecond, 999 * kMillisecond, 1001 * kMillisecond,
                           7 * kSecond, 100 * kSecond}) {
        DemandMeter meter;
        Micros now = 0;
        while (now < 4 * kTimeout) {
            now += spacing;
            meter.Look(now, static_cast<Lsn>(now), kTimeout);  // one byte a microsecond
        }
        ASSERT_TRUE(meter.Latest(kTimeout).complete) << spacing;
        EXPECT_NEAR(meter.Latest(kTimeout).bytes, static_cast<double>(kTimeout), 2.0) << spacing;
    }
}

TEST(DemandMeter, IsCleanOnlyWhenNoCheckpointInsideCameEarly) {
    DemandMeter meter;
    for (int second = 0; second <= 1000; ++second) {
        meter.Look(second * kSecond, static_cast<Lsn>(second * MB(2)), kTimeout);
        if (second == 400) meter.CycleCutShort(second * kSecond);
        const Stretch stretch = meter.Latest(kTimeout);
        if (second > 300) {
            EXPECT_EQ(stretch.clean, second < 400 || second >= 700) << second;
        }
    }
}

TEST(DemandMeter, ALongerTimeoutIsWatchedAnewAndAShorterOneAtOnce) {
    DemandMeter meter;
    Micros now = 0;
    for (; now <= 400 * kSecond; now += kSecond) meter.Look(now, static_cast<Lsn>(now), kTimeout);
    EXPECT_TRUE(meter.Latest(30 * kSecond).complete);
    EXPECT_NEAR(meter.Latest(30 * kSecond).bytes, 30e6, 10.0);
    EXPECT_FALSE(meter.Latest(3 * kTimeout).complete);
    for (; now <= 1400 * kSecond; now += kSecond) meter.Look(now, static_cast<Lsn>(now), 3 * kTimeout);
    ASSERT_TRUE(meter.Latest(3 * kTimeout).complete);
    EXPECT_NEAR(meter.Latest(3 * kTimeout).bytes, 900e6, 10.0);
}

class NeedOf : public testing::Test {
  protected:
    NeedOf() {
        rig.settings.enable = false;
        rig.server.settings.checkpoint_timeout = kMinute;
    }
    Rig rig;
};

TEST_F(NeedOf, AQuietLoadWithTimedCheckpointsIsMeasured) {
    rig.server.load = [](double) { return Load{MB(5), 0, 1}; };
    rig.Run(3 * kMinute);
    const Need need = rig.tuner.need(rig.journal);
    EXPECT_EQ(need.basis, NeedBasis::kMeasured);
    EXPECT_NEAR(need.bytes, MB(300), MB(3));
    EXPECT_GE(need.size, SizeForDistance(MB(300), rig.server.settings));
    EXPECT_LE(need.size, SizeForDistance(MB(300) * 1.1, rig.server.settings));
}

TEST_F(NeedOf, ALoadUnderFrequentCheckpointsIsAnUpperBound) {
    rig.server.load = [](double) { return Load{MB(40), MB(60), 5}; };
    rig.Run(3 * kMinute);
    EXPECT_EQ(rig.tuner.need(rig.journal).basis, NeedBasis::kUpperBound);
}

TEST_F(NeedOf, AYoungWatchIsProjected) {
    rig.server.load = [](double) { return Load{MB(5), 0, 1}; };
    rig.Run(20 * kSecond);
    const Need need = rig.tuner.need(rig.journal);
    EXPECT_EQ(need.basis, NeedBasis::kProjected);
    EXPECT_NEAR(need.bytes, MB(300), MB(15));
}

TEST_F(NeedOf, ABurstIsForgottenAfterTwelveWindowsAndNotBefore) {
    rig.server.settings.max_wal_size = 8 * kGiB;
    rig.server.load = [](double second) {
        return Load{second >= 90 && second < 105 ? MB(30) : MB(0.05), 0, 1};
    };
    rig.Run(11 * kMinute);
    EXPECT_NEAR(rig.tuner.need(rig.journal).bytes, MB(453), MB(10));
    rig.Run(5 * kMinute);
    EXPECT_LT(rig.tuner.need(rig.journal).bytes, MB(5));
}

// Checkpoints that come early inflate full-page images, but this load writes none: what falls now is what is
// needed.
TEST_F(NeedOf, ALoadThatGrewAfterQuietWindowsIsNotHiddenByTheQuietOnes) {
    rig.server.load = [](double second) { return Load{second < 300 ? MB(1) : MB(40), 0, 1}; };
    rig.Run(15 * kMinute);
    EXPECT_NEAR(rig.tuner.need(rig.journal).bytes, MB(2400), MB(240));
}

}  // namespace
}  // namespace walsizer::test
