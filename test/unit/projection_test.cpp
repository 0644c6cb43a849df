// Completing an incomplete cycle: full-page images fade as exp(-t/tau) while the rest stays.
#include <gtest/gtest.h>

#include <cmath>

#include "rig.hpp"

namespace walsizer::test {
namespace {

struct Fading {
    double base;    // MB/s
    double images;  // MB/s right after the redo point
    double tau;     // seconds

    double Until(double seconds) const {
        return MB(base) * seconds + MB(images) * tau * (1 - std::exp(-seconds / tau));
    }
    double Images(double seconds) const { return MB(images) * tau * (1 - std::exp(-seconds / tau)); }
    double ImageRate(double seconds) const { return MB(images) * std::exp(-seconds / tau); }
    double Rate(double seconds) const { return MB(base) + ImageRate(seconds); }
};

void PrintTo(const Fading& fading, std::ostream* out) {
    *out << fading.base << " MB/s + " << fading.images << " MB/s fading in " << fading.tau << " s";
}

constexpr double kTimeout = 300;

class Projection : public testing::TestWithParam<Fading> {};

TEST_P(Projection, ComesWithinTenPercentOfTheTrueIntegralFromAnyAge) {
    const Fading load = GetParam();
    for (double age : {1.0, 3.0, 5.0, 10.0, 30.0, 60.0, 150.0, 290.0}) {
        CycleSoFar cycle;
        cycle.wal_bytes = static_cast<Bytes>(load.Until(age));
        cycle.elapsed = static_cast<Micros>(age * kSecond);
        cycle.fpi = {true, load.Images(age) / load.Until(age)};
        Pace pace;
        pace.steady = load.Rate(age);
        pace.fpi_share = load.ImageRate(age) / load.Rate(age);
        const Demand demand = Project(cycle, static_cast<Micros>((kTimeout - age) * kSecond), pace);
        EXPECT_NEAR(demand.seen + demand.unseen, load.Until(kTimeout), 0.1 * load.Until(kTimeout))
            << "at " << age;
    }
}

TEST_P(Projection, WithoutStatisticsCarriesThePresentRateOnAndSoNeverFallsShort) {
    const Fading load = GetParam();
    for (double age : {3.0, 30.0, 150.0}) {
        CycleSoFar cycle;
        cycle.wal_bytes = static_cast<Bytes>(load.Until(age));
        cycle.elapsed = static_cast<Micros>(age * kSecond);
        Pace pace;
        pace.steady = load.Rate(age);
        const Demand demand = Project(cycle, static_cast<Micros>((kTimeout - age) * kSecond), pace);
        EXPECT_NEAR(demand.seen, load.Until(age), 1.0);
        EXPECT_NEAR(demand.unseen, load.Rate(age) * (kTimeout - age), 1.0);
        EXPECT_GE(demand.seen + demand.unseen, load.Until(kTimeout) * 0.999);
    }
}

// The same end to end, through looks, statistics and meters that lag by seconds: those may only err upwards
// while the cycle is young.
TEST_P(Projection, OfAWatchedServerComesWithinTenPercentAndNeverFarBelow) {
    const Fading load = GetParam();
    Rig rig;
    rig.settings.enable = false;
    rig.server.settings.max_wal_size = 1024 * kGiB;
    rig.server.load = [=](double) { return Load{MB(load.base), MB(load.images), load.tau}; };
    for (int age = 20; age < 300; age += 20) {
        rig.Run(20 * kSecond);
        const Need need = rig.tuner.need(rig.journal);
        ASSERT_EQ(need.basis, NeedBasis::kProjected);
        const double ratio = need.bytes / load.Until(kTimeout);
        EXPECT_GE(ratio, 0.9) << "at " << age << " s";
        EXPECT_LE(ratio, age < 40 ? 1.2 : 1.1) << "at " << age << " s";
    }
}

TEST_P(Projection, UnderEightyPercentCoverageTheStatisticsAreNotUsed) {
    const Fading load = GetParam();
    Rig rig;
    rig.settings.enable = false;
    rig.server.settings.max_wal_size = 1024 * kGiB;
    rig.server.statistics_coverage = 0.7;
    rig.server.load = [=](double) { return Load{MB(load.base), MB(load.images), load.tau}; };
    rig.Run(30 * kSecond);
    EXPECT_FALSE(rig.tuner.tracker().OpenCycleFpi().known);
    EXPECT_LT(rig.tuner.tracker().pace().fpi_share, 0);
    const Need need = rig.tuner.need(rig.journal);
    EXPECT_GE(need.bytes, load.Until(kTimeout) * 0.98);
    EXPECT_LE(need.bytes, load.Until(30) + load.Rate(25) * 271);
}

INSTANTIATE_TEST_SUITE_P(Loads, Projection,
                         testing::Values(Fading{2, 10, 30}, Fading{2, 10, 100}, Fading{1, 40, 10},
                                         Fading{10, 10, 60}, Fading{50, 100, 20}, Fading{0.5, 0, 1},
                                         Fading{100, 1, 5}));

TEST(Projection, OfNothingIsNothing) {
    const Demand demand = Project(CycleSoFar{}, 300 * kSecond, Pace{});
    EXPECT_EQ(demand.seen, 0);
    EXPECT_EQ(demand.unseen, 0);
}

TEST(Projection, AfterTheTimerExpectsNothingMore) {
    CycleSoFar cycle;
    cycle.wal_bytes = kGiB;
    cycle.elapsed = 400 * kSecond;
    Pace pace;
    pace.steady = MB(5);
    EXPECT_EQ(Project(cycle, -100 * kSecond, pace).unseen, 0);
}

TEST(Projection, StatisticsThatAreImagesOnlyStillKeepSomeRate) {
    CycleSoFar cycle;
    cycle.wal_bytes = 100 * kMiB;
    cycle.elapsed = 10 * kSecond;
    cycle.fpi = {true, 0.95};
    Pace pace;
    pace.steady = MB(10);
    pace.fpi_share = 0.95;
    const Demand demand = Project(cycle, 290 * kSecond, pace);
    EXPECT_GT(demand.unseen, 0);
    EXPECT_LE(demand.unseen, MB(2900));
}

TEST(Pace, IsThatOfTheLastSecondsAndNotAnAverageSinceTheRedoPoint) {
    Rig rig;
    rig.settings.enable = false;
    rig.server.load = [](double second) { return Load{second < 200 ? 0 : MB(30), 0, 1}; };
    rig.Run(202 * kSecond);
    EXPECT_NEAR(rig.tuner.tracker().pace().burst, MB(30), MB(2));
    rig.Run(8 * kSecond);
    EXPECT_NEAR(rig.tuner.tracker().pace().steady, MB(30), MB(1));
    rig.server.load = [](double) { return Load{}; };
    rig.Run(8 * kSecond);
    EXPECT_EQ(rig.tuner.tracker().pace().burst, 0);
    EXPECT_EQ(rig.tuner.tracker().pace().steady, 0);
}

}  // namespace
}  // namespace walsizer::test
