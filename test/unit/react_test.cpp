// Raising after forced checkpoints: the threshold and the ratio.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

struct Steady {
    double rate;    // MB/s that last
    double images;  // MB/s after a redo point, fading in a tenth of the timeout
    Micros timeout;
};

void PrintTo(const Steady& s, std::ostream* out) {
    *out << s.rate << " MB/s and " << s.images << " MB/s of images, timeout " << s.timeout / kSecond << " s";
}

std::vector<Steady> Sweep() {
    std::vector<Steady> all;
    for (Micros timeout : {30 * kSecond, 60 * kSecond, 300 * kSecond})
        for (double rate : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0})
            for (double images : {0.0, 1.0, 3.0})
                if (rate * (1 + images / 10) * static_cast<double>(timeout) / kSecond * 1.9 < 6000)
                    all.push_back({rate, images * rate, timeout});  // 128MB x 4 x 4 x 4 is 8 GB
    return all;
}

class ReactOnly : public testing::TestWithParam<Steady> {};

TEST_P(ReactOnly, TakesAtMostThresholdAndTwoForcedCheckpointsAndThreeChanges) {
    const Steady s = GetParam();
    const double seconds = static_cast<double>(s.timeout) / kSecond;
    Rig rig;
    rig.settings.anticipate = false;
    rig.server.settings.max_wal_size = 128 * kMiB;
    rig.server.settings.checkpoint_timeout = s.timeout;
    rig.server.load = [=](double) { return Load{MB(s.rate), MB(s.images), seconds / 10}; };
    rig.Run(6 * s.timeout + 10 * kSecond);
    const double cycle = MB(s.rate) * seconds + MB(s.images) * seconds / 10;
    const Bytes in_segments = SizeForDistance(cycle, rig.server.settings);
    if (in_segments <= 128 * kMiB) {
        EXPECT_TRUE(rig.sets.empty());
        return;
    }
    EXPECT_LE(rig.server.Count(Why::kWal), rig.settings.threshold + 2);
    EXPECT_LE(rig.sets.size(), 3U);
    EXPECT_GE(static_cast<double>(rig.size()), cycle * 1.9) << SizeText(rig.size()).c_str();
    EXPECT_LE(static_cast<double>(rig.size()), 1.5 * static_cast<double>(in_segments))
        << SizeText(rig.size()).c_str() << ", need " << SizeText(in_segments).c_str();
}

INSTANTIATE_TEST_SUITE_P(Sweep, ReactOnly, testing::ValuesIn(Sweep()));

struct OnePerWindow {
    bool anticipate;
    Bytes start;
    Micros timeout;
    Micros counters_late;
};

void PrintTo(const OnePerWindow& s, std::ostream* out) {
    *out << (s.anticipate ? "anticipate, " : "react, ") << SizeText(s.start).c_str() << ", timeout "
         << s.timeout / kSecond << " s, counters " << s.counters_late / kMillisecond << " ms late";
}

std::vector<OnePerWindow> AllOnePerWindow() {
    std::vector<OnePerWindow> all;
    for (bool anticipate : {false, true})
        for (Bytes start : {1 * kGiB, 4 * kGiB, 16 * kGiB})
            for (Micros timeout : {60 * kSecond, 300 * kSecond})
                for (Micros late : {Micros{0}, 2500 * kMillisecond})
                    all.push_back({anticipate, start, timeout, late});
    return all;
}

class TwoPercentTooMuch : public testing::TestWithParam<OnePerWindow> {};

// 2 % more WAL per timeout than the trigger allows: one forced checkpoint per window for ever, under any
// threshold.
TEST_P(TwoPercentTooMuch, IsCorrectedWithinThreeWindowsByLessThanThirtyPercent) {
    const OnePerWindow s = GetParam();
    Rig rig;
    rig.settings.anticipate = s.anticipate;
    rig.server.settings.max_wal_size = s.start;
    rig.server.settings.checkpoint_timeout = s.timeout;
    rig.server.counters_late = s.counters_late;
    const double seconds = static_cast<double>(s.timeout) / kSecond;
    const double trigger = static_cast<double>(TriggerSize(s.start, rig.server.settings));
    rig.server.load = [=](double) { return Load{1.02 * trigger / seconds, 0, 1}; };
    rig.Run(3 * s.timeout + 6 * kSecond);
    EXPECT_EQ(rig.sets.size(), 1U);
    EXPECT_GT(rig.size(), s.start);
    EXPECT_LT(static_cast<double>(rig.size()), 1.3 * static_cast<double>(s.start));
    const Micros corrected = rig.server.now + s.timeout;
    rig.Run(6 * s.timeout);
    EXPECT_EQ(rig.server.Count(Why::kWal, corrected), 0);
    EXPECT_LT(static_cast<double>(rig.size()), 1.3 * static_cast<double>(s.start));
}

INSTANTIATE_TEST_SUITE_P(Sweep, TwoPercentTooMuch, testing::ValuesIn(AllOnePerWindow()));

TEST(React, A450MbBurstIn15SecondsFrom64MbEndsAtOrBelow1200Mb) {
    for (Micros timeout : {60 * kSecond, 300 * kSecond}) {
        Rig rig;
        rig.settings.anticipate = false;
        rig.server.settings.max_wal_size = 64 * kMiB;
        rig.server.settings.checkpoint_timeout = timeout;
        rig.server.load = [](double second) {
            return Load{second >= 20 && second < 35 ? MB(30) : MB(0.02), 0, 1};
        };
        rig.Run(14 * timeout);
        EXPECT_LE(rig.size(), 1200 * kMiB) << timeout / kSecond << " s";
        EXPECT_GE(rig.size(), 256 * kMiB);
    }
}

TEST(React, FewerForcedCheckpointsThanTheThresholdRaiseNothingAtOnce) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.settings.threshold = 5;
    rig.server.load = [](double second) { return Load{second < 60 ? MB(40) : MB(0.1), 0, 1}; };
    rig.Run(90 * kSecond);
    EXPECT_EQ(rig.server.Count(Why::kWal), 4);
    EXPECT_TRUE(rig.sets.empty());
}

TEST(React, TheThresholdIsReachedByItsVeryCheckpointAndWithinOneWindow) {
    for (int threshold : {1, 2, 3, 7}) {
        Rig rig;
        rig.settings.anticipate = false;
        rig.settings.threshold = threshold;
        rig.server.load = [](double) { return Load{MB(30), 0, 1}; };
        while (rig.sets.empty() && rig.server.now < 1300 * kSecond) {
            rig.server.Advance(rig.next_look);
            rig.Look();
        }
        EXPECT_EQ(rig.server.Count(Why::kWal), threshold);
        EXPECT_EQ(rig.LastDecision().cause, DecisionCause::kThreshold);
    }
}

// The look that closes the window also sees its second forced checkpoint.
TEST(React, TheThresholdCountsAlsoWhenTheWindowClosesWithThatLook) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.Look();
    const Micros start = rig.server.now;
    rig.server.Advance(start + 30 * kSecond);
    rig.server.WriteNow(600 * kMiB);
    rig.server.load = [](double) { return Load{MB(17), 0, 1}; };
    rig.server.Advance(start + 31 * kSecond);
    rig.Look();
    rig.server.Advance(start + 59'500 * kMillisecond);
    rig.Look();
    ASSERT_EQ(rig.totals.checkpoints.wal_forced, 1);
    rig.server.WriteNow(600 * kMiB);
    rig.server.Advance(start + 60'100 * kMillisecond);
    rig.Look();
    ASSERT_EQ(rig.totals.checkpoints.wal_forced, 2);
    ASSERT_EQ(rig.journal.windows.size(), 1U);
    EXPECT_EQ(rig.sets.size(), 1U);
}

// Where checkpoints are spread, the look ahead counts the WAL of such a statement: see statement_test.cpp.
TEST(React, StaleCheckpointsAfterARaiseRaiseNothingAgain) {
    for (bool anticipate : {false, true}) {
        Rig rig;
        rig.settings.anticipate = anticipate;
        rig.server.settings.completion_target = 0.01;
        rig.server.settings.max_wal_size = 64 * kMiB;
        rig.server.statement_segments = CheckpointSegments(rig.server.settings);
        rig.server.checkpoint_takes = 600 * kMillisecond;
        rig.server.load = [](double second) { return Load{second < 24 ? MB(75) : 0, 0, 1}; };
        rig.Run(4 * kSecond);
        const std::size_t changes = rig.sets.size();
        const Bytes size = rig.size();
        rig.Run(20 * kSecond);
        EXPECT_GE(rig.totals.checkpoints.stale, 10);
        EXPECT_EQ(rig.sets.size(), changes)
            << "from " << SizeText(size).c_str() << " to " << SizeText(rig.size()).c_str();
    }
}

TEST(React, ManualCheckpointsNeverRaiseThroughTheRatio) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.server.settings.checkpoint_timeout = kMinute;
    rig.server.load = [](double) { return Load{MB(4), 0, 1}; };
    for (int i = 0; i < 60; ++i) {
        rig.Run(20 * kSecond);
        rig.server.RequestCheckpoint();
    }
    EXPECT_TRUE(rig.sets.empty());
}

TEST(React, AnAcceptedShareOfForcedCheckpointsIsLeftAlone) {
    Rig rig;
    rig.settings.anticipate = false;
    rig.settings.target_ratio = 0.5;
    rig.settings.threshold = 10;
    rig.server.settings.checkpoint_timeout = kMinute;
    // In every fourth minute one or two checkpoints are forced.
    rig.server.load = [](double second) {
        return Load{static_cast<int>(second) / 60 % 4 == 3 ? MB(18) : MB(1), 0, 1};
    };
    rig.Run(60 * kMinute);
    EXPECT_GE(rig.totals.checkpoints.wal_forced, 4);
    EXPECT_TRUE(rig.sets.empty());
}

}  // namespace
}  // namespace walsizer::test
