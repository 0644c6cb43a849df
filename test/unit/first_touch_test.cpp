// The curve of full-page images: what is learned of a known one.
#include "walsizer/first_touch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace walsizer::test {
namespace {

constexpr double kPage = 8 * kKiB;
constexpr double kRecord = 100;  // bytes

struct Pages {
    double count;
    double records;  // until 63 % of them were touched
};

// A server whose curve is known.
struct Truth {
    std::vector<Pages> sets;
    double scale = 0.9;  // real bytes of an image over a page

    double Images(double records) const {
        double images = 0;
        for (const Pages& set : sets) images += set.count * kPage * -std::expm1(-records / set.records);
        return images;
    }
    double Wal(double records) const { return records * kRecord + scale * Images(records); }
    SinceRedo At(double records) const { return {records, Images(records), Wal(records), Wal(records)}; }
    // `cycles` of `records` each, looked at in 100 equal steps of `seconds`.
    void Teach(ImageProfile& profile, double records, int cycles, double seconds = 1) const {
        for (int cycle = 0; cycle < cycles; ++cycle) {
            profile.Fade(1);
            unsigned last = 0;
            SinceRedo before;
            for (int step = 1; step <= 100; ++step) {
                const SinceRedo now = At(records * step / 100);
                profile.AddStretch({now.records - before.records, now.images - before.images,
                                    now.reported - before.reported, now.written - before.written});
                const unsigned bin = ImageProfile::BinOf(now.written);
                if (bin != last) profile.AddPoint(now, step * seconds);
                last = bin;
                before = now;
            }
        }
    }
};

const Truth kUniform = {{{50'000, 100'000}}};
const Truth kSkewed = {{{200, 2'000}, {3'000, 20'000}, {80'000, 300'000}}};

void ExpectClose(double got, double wanted, double tolerance, const char* what) {
    EXPECT_NEAR(got / wanted, 1, tolerance) << what << ": " << got << " for " << wanted;
}

TEST(FirstTouch, AnEmptyProfileKnowsNothing) {
    const FirstTouchCurve curve = ImageProfile().Fit();
    EXPECT_FALSE(curve.known);
    EXPECT_EQ(curve.Images(1e6), 0);
}

TEST(FirstTouch, AWholeCycleShowsTheCurve) {
    for (const Truth& truth : {kUniform, kSkewed}) {
        ImageProfile profile;
        truth.Teach(profile, 400'000, 5);
        const FirstTouchCurve curve = profile.Fit();
        ASSERT_TRUE(curve.known);
        for (double records : {8e3, 16e3, 50e3, 100e3, 200e3, 400e3})
            ExpectClose(curve.Images(records), truth.Images(records), 0.03, "images");
    }
}

TEST(FirstTouch, FourTimesTheLongestCycleIsForetold) {
    for (const Truth& truth : {kUniform, kSkewed}) {
        ImageProfile profile;
        truth.Teach(profile, 50'000, 20);
        const FirstTouchCurve curve = profile.Fit();
        ExpectClose(curve.Images(200'000), truth.Images(200'000), 0.15, "images");
    }
}

// Beyond that nobody knows; but there are never more images than at the rate the longest cycle ended with.
TEST(FirstTouch, BeyondItIsABound) {
    for (const Truth& truth : {kUniform, kSkewed}) {
        ImageProfile profile;
        truth.Teach(profile, 20'000, 20);
        const FirstTouchCurve most = profile.Fit().AtMost();
        for (double records : {20e3, 100e3, 400e3, 4e6})
            EXPECT_GT(most.Images(records), 0.97 * truth.Images(records)) << records;
    }
}

TEST(FirstTouch, ImagesAreMeasuredWithTheirHolesAndCompression) {
    for (double scale : {1.0, 0.9, 0.5, 0.15}) {
        Truth truth = kUniform;
        truth.scale = scale;
        ImageProfile profile;
        truth.Teach(profile, 200'000, 3);
        const FirstTouchCurve curve = profile.Fit();
        ExpectClose(curve.image_scale, scale, 0.02, "scale");
        ExpectClose(curve.bytes_per_record, kRecord, 0.05, "bytes per record");
    }
}

// COPY beside small updates: where the load changes within a group, no slope can be believed.
TEST(FirstTouch, AChangingLoadDoesNotMeasureImages) {
    ImageProfile profile;
    kUniform.Teach(profile, 200'000, 5);
    const double before = profile.Fit().image_scale;
    for (int i = 0; i < 3000; ++i) {
        if (i % 3 == 0)
            profile.AddStretch({1000, 10 * kPage, 4e6 + 0.9 * 10 * kPage, 4.1e6});  // long records
        else
            profile.AddStretch(
                {1000, (300.0 + i % 7 * 50) * kPage, 5e4 + 0.9 * (300.0 + i % 7 * 50) * kPage, 3e6});
    }
    EXPECT_NEAR(profile.Fit().image_scale, before, 0.03);
}

// Where every stretch has the same share of images, their size cannot be learned; it is never so large that
// no WAL is left for the records.
TEST(FirstTouch, WithoutVariationImagesAreNoLargerThanWalAllows) {
    ImageProfile profile;
    for (int i = 0; i < 100; ++i) profile.AddStretch({1000, 800 * kPage, 6.0e6, 6.0e6});
    const FirstTouchCurve curve = profile.Fit();
    EXPECT_LE(curve.image_scale * 800 * kPage + 24 * 1000, 6.0e6 * 1.0001);
    EXPECT_GT(curve.image_scale, 0.8);
}

// Up to a tenth of WAL by position is no WAL by record: page headers, alignment.
TEST(FirstTouch, WhatPositionsHaveInExcessIsOverhead) {
    ImageProfile profile;
    for (int i = 0; i < 100; ++i) profile.AddStretch({1000, 100 * kPage, 1e6, 1.02e6});
    EXPECT_NEAR(profile.Fit().overhead, 1.02, 1e-3);
}

// Loads change: after some hours the new one alone is believed.
TEST(FirstTouch, AnotherLoadReplacesTheFirst) {
    ImageProfile profile;
    kUniform.Teach(profile, 200'000, 40);
    Truth smaller = {{{5'000, 10'000}}};
    smaller.Teach(profile, 400'000, 200);
    ExpectClose(profile.Fit().Images(200'000), smaller.Images(200'000), 0.1, "images");
}

// What trickles in at night touches other pages than what writes by day.
TEST(FirstTouch, TheBusyLoadIsTheOneThatCounts) {
    const Truth trickle = {{{2'000, 100'000}}};
    ImageProfile profile;
    for (int day = 0; day < 20; ++day) {
        trickle.Teach(profile, 200'000, 3, 100);
        kUniform.Teach(profile, 200'000, 1, 1);
    }
    ExpectClose(profile.Fit().Images(100'000), kUniform.Images(100'000), 0.1, "images");
}

TEST(FirstTouch, PointsThatMakeNoSenseAreIgnored) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    ImageProfile profile;
    profile.AddPoint({nan, nan, nan, nan}, 1);
    profile.AddPoint({0, 0, 0, 1e6}, 1);
    profile.AddPoint({100, 100, 1e6, 1e6}, 0);
    profile.AddPoint({100, 0, 0, 1e6}, 1);
    profile.AddStretch({nan, nan, nan, nan});
    profile.AddStretch({0, 0, 0, 0});
    EXPECT_FALSE(profile.Fit().known);
}

TEST(FirstTouch, BytesOfAnyOriginAreMendedToSomethingThatFits) {
    for (unsigned char fill : {0x00, 0x7F, 0x80, 0xC1, 0xFF}) {
        ImageProfile profile;
        std::memset(static_cast<void*>(&profile), fill, sizeof(profile));
        profile.Mend();
        profile.AddStretch({1000, 1000, 1e6, 1e6});
        const FirstTouchCurve curve = profile.Fit();
        EXPECT_TRUE(std::isfinite(curve.Images(1e6))) << static_cast<int>(fill);
        EXPECT_TRUE(std::isfinite(curve.image_scale)) << static_cast<int>(fill);
    }
}

}  // namespace
}  // namespace walsizer::test
