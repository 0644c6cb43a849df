#include "walsizer/ring.hpp"

#include <gtest/gtest.h>

namespace walsizer {
namespace {

TEST(Ring, KeepsTheNewestAndForgetsTheOldest) {
    int slots[3] = {};
    std::uint64_t written = 0;
    Ring<int> ring(slots, 3, &written);
    EXPECT_EQ(ring.size(), 0U);
    for (int value = 1; value <= 2; ++value) ring.Push(value);
    EXPECT_EQ(ring.size(), 2U);
    EXPECT_EQ(ring.Newest(0), 2);
    EXPECT_EQ(ring.Newest(1), 1);
    for (int value = 3; value <= 7; ++value) ring.Push(value);
    EXPECT_EQ(ring.size(), 3U);
    EXPECT_EQ(ring.Newest(0), 7);
    EXPECT_EQ(ring.Newest(2), 5);
}

TEST(Ring, ASecondViewOfTheSameStorageSeesTheSame) {
    int slots[2] = {};
    std::uint64_t written = 0;
    Ring<int> ring(slots, 2, &written);
    Ring<int> view(slots, 2, &written);
    ring.Push(1);
    ring.Newest(0) = 9;
    EXPECT_EQ(view.Newest(0), 9);
    EXPECT_EQ(view.capacity(), 2U);
}

TEST(Ring, ClearEmptiesItAndItFillsAgain) {
    int slots[2] = {};
    std::uint64_t written = 0;
    Ring<int> ring(slots, 2, &written);
    ring.Push(1);
    ring.Clear();
    EXPECT_EQ(ring.size(), 0U);
    ring.Push(5);
    EXPECT_EQ(ring.Newest(0), 5);
}

TEST(Ring, WithoutCapacityIsAlwaysEmpty) {
    std::uint64_t written = 0;
    Ring<int> ring(nullptr, 0, &written);
    ring.Push(1);
    EXPECT_EQ(ring.size(), 0U);
}

TEST(Ring, CountsOnBeyondThirtyTwoBits) {
    int slots[3] = {};
    std::uint64_t written = (std::uint64_t{1} << 32) - 1;
    Ring<int> ring(slots, 3, &written);
    for (int value = 1; value <= 3; ++value) ring.Push(value);
    EXPECT_EQ(ring.size(), 3U);
    EXPECT_EQ(ring.Newest(0), 3);
    EXPECT_EQ(ring.Newest(2), 1);
}

}  // namespace
}  // namespace walsizer
