#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class CeilingOf : public testing::Test {
  protected:
    CeilingOf() {
        rig.server.settings.checkpoint_timeout = kMinute;
        rig.server.load = [](double) { return Load{MB(40), 0, 1}; };  // needs 4.9 GB
    }
    Rig rig;
};

TEST_F(CeilingOf, MaxCapsEachRaiseAndTheReasonNamesIt) {
    rig.settings.max = 3 * kGiB;
    rig.Run(3 * kMinute);
    EXPECT_EQ(rig.size(), 3 * kGiB);
    for (Bytes size : rig.sets) EXPECT_LE(size, 3 * kGiB);
    bool named = false;
    for (std::uint32_t age = 0; age < rig.journal.decisions.size(); ++age) {
        const DecisionRecord& row = rig.journal.decisions.Newest(age);
        EXPECT_EQ(row.ceiling, 3 * kGiB);
        EXPECT_EQ(row.limited_by, Limit::kMax);
        if (row.new_size != 3 * kGiB || row.action != Action::kGrow) continue;
        named = std::string(row.reason.c_str()).find("the max ceiling ") != std::string::npos;
        EXPECT_GT(row.wanted_size, 3 * kGiB);
    }
    EXPECT_TRUE(named);
}

TEST_F(CeilingOf, ACeilingThatIsNoWholeSegmentIsRoundedDown) {
    rig.settings.max = 3 * kGiB - 1;
    rig.Run(3 * kMinute);
    EXPECT_EQ(rig.size(), 3 * kGiB - 16 * kMiB);
}

TEST_F(CeilingOf, MaxNeverLowersAPresentValue) {
    for (bool anticipate : {false, true}) {
        Rig above;
        above.settings.anticipate = anticipate;
        above.settings.max = 512 * kMiB;
        above.server.settings.checkpoint_timeout = kMinute;
        above.server.settings.max_wal_size = 2 * kGiB;
        above.server.load = [](double) { return Load{MB(40), 0, 1}; };
        above.Run(10 * kMinute);
        EXPECT_GE(above.server.Count(Why::kWal), 10);
        EXPECT_TRUE(above.sets.empty());
        EXPECT_EQ(above.tuner.state(), State::kAtCeiling);
        EXPECT_GE(above.tuner.Recommended(above.journal), 2 * kGiB);
    }
}

TEST_F(CeilingOf, AMaxBelowTwoSegmentsNeverAsksForAFatalValue) {
    rig.settings.max = 2 * kMiB;
    rig.server.settings.max_wal_size = 16 * kMiB;  // accepted by a reload, fatal at the next start
    rig.Run(kMinute);
    for (Bytes size : rig.sets) EXPECT_EQ(size, 32 * kMiB);
    EXPECT_EQ(rig.tuner.ceiling().size, 32 * kMiB);
}

TEST_F(CeilingOf, ARaiseFromBelowTwoSegmentsReachesTwoAtOnce) {
    for (Bytes segment : {16 * kMiB, 64 * kMiB, 1024 * kMiB}) {
        for (Bytes size : {2 * kMiB, segment / 2, segment}) {
            for (bool anticipate : {true, false}) {
                Rig low;
                low.settings.anticipate = anticipate;
                low.server.settings.checkpoint_timeout = kMinute;
                low.server.settings.segment_size = segment;
                low.server.settings.max_wal_size = size;
                low.server.load = [](double) { return Load{MB(100), 0, 1}; };
                low.Run(2 * kMinute);
                ASSERT_FALSE(low.sets.empty());
                EXPECT_GE(low.sets.front(), 2 * segment)
                    << SizeText(segment).c_str() << ", " << SizeText(size).c_str();
            }
        }
    }
}

TEST_F(CeilingOf, AtCeilingMeansThatTheNeedIsAboveAndNotMerelyTheValue) {
    rig.settings.max = 512 * kMiB;
    rig.server.settings.max_wal_size = 2 * kGiB;
    rig.server.load = [](double) { return Load{MB(4), 0, 1}; };
    rig.Run(10 * kMinute);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
    EXPECT_EQ(rig.Decisions(Action::kHold), 0);
}

TEST_F(CeilingOf, AtCeilingLastsAsLongAsTheNeedAndEndsWithIt) {
    rig.settings.max = 2 * kGiB;
    rig.server.load = [](double second) { return Load{second < 1200 ? MB(40) : MB(1), 0, 1}; };
    rig.Run(3 * kMinute);
    for (int i = 0; i < 100; ++i) {
        rig.Run(10 * kSecond);
        ASSERT_EQ(rig.tuner.state(), State::kAtCeiling) << i;
    }
    rig.Run(16 * kMinute);
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
}

TEST_F(CeilingOf, AtCeilingAfterAQuietHourToo) {
    rig.settings.max = 2 * kGiB;
    rig.server.load = [](double second) { return Load{second < 780 ? MB(0.5) : MB(40), 0, 1}; };
    rig.Run(16 * kMinute);
    for (int i = 0; i < 30; ++i) {
        rig.Run(10 * kSecond);
        ASSERT_EQ(rig.tuner.state(), State::kAtCeiling) << i;
        ASSERT_GT(rig.tuner.need(rig.journal).size, rig.tuner.ceiling().size) << i;
    }
}

TEST_F(CeilingOf, BeginsWithOneRowAndOneWarningThatNamesTheCeiling) {
    rig.settings.max = 2 * kGiB;
    rig.Run(20 * kMinute);
    EXPECT_EQ(rig.Decisions(Action::kHold), 1);
    ASSERT_EQ(rig.Warnings(), 1);
    for (const LogLine& line : rig.log) {
        if (!line.warning) continue;
        const std::string message = line.message.c_str();
        EXPECT_EQ(message.find("walsizer leaves max_wal_size at 2048 MB: the max ceiling "), 0U) << message;
        EXPECT_NE(message.find("need is "), std::string::npos) << message;
        EXPECT_NE(std::string(line.hint.c_str()).find("walsizer.max"), std::string::npos);
    }
}

// A load that comes and goes: each time the state begins there is a row, but at most one WARNING an hour.
TEST_F(CeilingOf, ThatComesAndGoesHasARowEachTimeAndAWarningAnHour) {
    rig.settings.max = 2 * kGiB;
    rig.server.load = [](double second) {
        return Load{static_cast<int>(second) / 60 % 30 < 5 ? MB(40) : MB(0.1), 0, 1};
    };
    int begins = 0;
    State before = rig.tuner.state();
    for (int i = 0; i < 4 * 3600; ++i) {
        rig.Run(kSecond);
        begins += rig.tuner.state() == State::kAtCeiling && before != State::kAtCeiling;
        before = rig.tuner.state();
    }
    EXPECT_GE(begins, 7);
    EXPECT_EQ(rig.Decisions(Action::kHold), begins);
    EXPECT_LE(rig.Warnings(), 4);
    EXPECT_GE(rig.Warnings(), 3);
}

TEST_F(CeilingOf, ARaisedMaxLetsTheTunerGoOn) {
    rig.settings.max = 2 * kGiB;
    rig.Run(5 * kMinute);
    ASSERT_EQ(rig.size(), 2 * kGiB);
    rig.settings.max = 64 * kGiB;
    rig.Run(5 * kMinute);
    EXPECT_GE(rig.size(), SizeForDistance(MB(2400), rig.server.settings));
    EXPECT_EQ(rig.tuner.state(), State::kTuning);
}

TEST_F(CeilingOf, RecommendedIsCappedAndNeedIsNot) {
    rig.settings.max = 2 * kGiB;
    rig.Run(10 * kMinute);
    EXPECT_EQ(rig.tuner.Recommended(rig.journal), 2 * kGiB);
    EXPECT_GT(rig.tuner.need(rig.journal).size, 4 * kGiB);
}

}  // namespace
}  // namespace walsizer::test
