// Raising before the first forced checkpoint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rig.hpp"

namespace walsizer::test {
namespace {

struct Situation {
    double rate;    // MB/s that last
    double images;  // MB/s of full-page images right after a redo point, fading in a tenth of the timeout
    Micros timeout;

    double CycleBytes() const {  // WAL of one full timed cycle
        const double seconds = static_cast<double>(timeout) / kSecond;
        const double tau = seconds / 10;
        return MB(rate) * seconds + MB(images) * tau * (1 - std::exp(-seconds / tau));
    }
    Load load() const { return {MB(rate), MB(images), static_cast<double>(timeout) / kSecond / 10}; }
};

void PrintTo(const Situation& s, std::ostream* out) {
    *out << s.rate << " MB/s and " << s.images << " MB/s of images, timeout " << s.timeout / kSecond << " s";
}

std::vector<Situation> AllSituations() {
    std::vector<Situation> all;
    for (Micros timeout : {30 * kSecond, 60 * kSecond, 300 * kSecond})
        for (double rate : {0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0})
            for (double images : {0.0, 1.0, 3.0}) all.push_back({rate, images * rate, timeout});
    return all;
}

int Forced(const FakeServer& server, Micros since) {
    int forced = 0;
    for (const CheckpointEvent& event : server.events) forced += event.why == Why::kWal && event.at >= since;
    return forced;
}

void Expect(Rig& rig, const Situation& s, int fewest_changes, Micros first_look) {
    const double need = s.CycleBytes() * (1 + rig.server.settings.completion_target);
    const Bytes in_segments = SizeForDistance(s.CycleBytes(), rig.server.settings);
    const Bytes start = 128 * kMiB;
    if (in_segments <= start) {
        EXPECT_EQ(rig.size(), start) << "raised without need";
        return;
    }
    EXPECT_GE(static_cast<double>(rig.size()), need) << SizeText(rig.size()).c_str();
    EXPECT_LE(static_cast<double>(rig.size()), 1.5 * static_cast<double>(in_segments))
        << SizeText(rig.size()).c_str() << ", need " << SizeText(in_segments).c_str();
    const auto doublings = static_cast<int>(std::ceil(std::log2(need / static_cast<double>(start))));
    EXPECT_LE(static_cast<int>(rig.sets.size()), std::max(fewest_changes, doublings + 2))
        << "a raise at most doubles: " << doublings << " are needed at least";
    EXPECT_EQ(Forced(rig.server, first_look + kSecond), 0) << "forced after the first second";
}

class SteadyLoad : public testing::TestWithParam<Situation> {};

TEST_P(SteadyLoad, From128MbIsNeverForcedAfterTheFirstSecondAndEndsWithinRange) {
    const Situation situation = GetParam();
    Rig rig;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.settings.checkpoint_timeout = situation.timeout;
    rig.server.load = [=](double) { return situation.load(); };
    const Micros start = rig.server.now;
    rig.Run(3 * situation.timeout + 10 * kSecond);
    Expect(rig, situation, 6, start);
}

INSTANTIATE_TEST_SUITE_P(Sweep, SteadyLoad, testing::ValuesIn(AllSituations()));

// The load begins while the worker already looks at an idle server.
class SuddenLoad : public testing::TestWithParam<Situation> {};

TEST_P(SuddenLoad, OnAnIdleServerIsForcedAtMostInItsFirstSecond) {
    const Situation situation = GetParam();
    Rig rig;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.settings.checkpoint_timeout = situation.timeout;
    rig.Run(10'300 * kMillisecond);
    rig.server.load = [=](double) { return situation.load(); };
    const Micros start = rig.server.now;
    rig.Run(3 * situation.timeout + 10 * kSecond);
    Expect(rig, situation, 6, start);
}

INSTANTIATE_TEST_SUITE_P(Sweep, SuddenLoad, testing::ValuesIn(AllSituations()));

// What pgbench at scale 50 does: 60 s, about 1.1 GB in a timed cycle of which most early WAL is images.
TEST(Anticipate, ThePgbenchCaseTakesAtMostSixChangesAndNoForcedCheckpointAtAll) {
    Rig rig;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(11), MB(45), 9}; };
    rig.Run(3 * kMinute + 5 * kSecond);
    const double cycle = MB(11) * 60 + MB(45) * 9;
    EXPECT_EQ(Forced(rig.server, 0), 0);
    EXPECT_LE(rig.sets.size(), 6U);
    EXPECT_GE(static_cast<double>(rig.size()), cycle * 1.9);
    EXPECT_LE(static_cast<double>(rig.size()), cycle * 1.9 * 1.5);
}

TEST(Anticipate, ABurstAfterThreeIdleTimeoutsIsNotForced) {
    for (double rate : {10.0, 30.0, 60.0, 100.0}) {
        Rig rig;
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.settings.max_wal_size = 512 * kMiB;
        rig.server.load = [=](double second) { return Load{second > 200 ? MB(rate) : 0, 0, 1}; };
        rig.Run(240 * kSecond);
        EXPECT_GE(rig.server.Count(Why::kSkipped), 3);
        EXPECT_EQ(rig.server.Count(Why::kWal), 0) << rate << " MB/s";
    }
}

TEST(Anticipate, A450MbBurstIn15SecondsFrom64MbEndsAtOrBelow1200Mb) {
    for (Micros timeout : {60 * kSecond, 300 * kSecond}) {
        Rig rig;
        rig.server.settings.max_wal_size = 64 * kMiB;
        rig.server.settings.checkpoint_timeout = timeout;
        rig.server.load = [](double second) {
            return Load{second >= 20 && second < 35 ? MB(30) : MB(0.02), 0, 1};
        };
        rig.Run(4 * timeout);
        EXPECT_LE(rig.size(), 1200 * kMiB) << timeout / kSecond << " s";
        EXPECT_GE(rig.size(), 128 * kMiB);
    }
}

TEST(Anticipate, ALoadThatTheTimerBeatsIsLeftAlone) {
    Rig rig;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(8.2), 0, 1}; };  // 492 MB in 60 s against 528 MB
    rig.Run(20 * kMinute);
    EXPECT_TRUE(rig.sets.empty());
    EXPECT_EQ(rig.server.Count(Why::kWal), 0);
}

TEST(Anticipate, CommandsThatCheckpointByThemselvesRaiseNothing) {
    for (Bytes size : {64 * kMiB, 128 * kMiB, 1024 * kMiB}) {
        Rig rig;
        rig.server.settings.max_wal_size = size;
        for (int i = 0; i < 200; ++i) {
            rig.server.WriteNow(7 * kMiB);
            rig.Run(150 * kMillisecond);
            rig.server.RequestCheckpoint();
            rig.Run(150 * kMillisecond);
        }
        EXPECT_TRUE(rig.sets.empty()) << SizeText(size).c_str();
        EXPECT_EQ(rig.totals.checkpoints.wal_forced, 0) << SizeText(size).c_str();
        EXPECT_EQ(rig.totals.checkpoints.requested, 200) << SizeText(size).c_str();
    }
}

TEST(Anticipate, LooksComeCloserAsTheTriggerNearsAndAreNeverRarerThanASecond) {
    Rig rig;
    rig.settings.enable = false;
    rig.server.load = [](double) { return Load{MB(60), 0, 1}; };
    Micros shortest = kHour;
    for (int look = 0; look < 200; ++look) {
        rig.server.Advance(rig.next_look);
        const Orders orders = rig.Look();
        EXPECT_LE(orders.next_look, kSecond);
        EXPECT_GE(orders.next_look, 50 * kMillisecond);
        shortest = std::min(shortest, orders.next_look);
    }
    EXPECT_LE(shortest, 100 * kMillisecond);
}

}  // namespace
}  // namespace walsizer::test
