// The disk ceiling is computed from figures that are read one after the other while WAL flows: it wobbles.
// Neither a wobble nor the moment in which a checkpoint removes a cycle's segments is a reason to change
// max_wal_size.
#include <gtest/gtest.h>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class DiskWobble : public testing::Test {
  protected:
    DiskWobble() {
        rig.server.settings.checkpoint_timeout = 30 * kSecond;
        rig.server.settings.max_wal_size = 256 * kMiB;
        rig.settings.disk_reserve = kGiB;
        rig.server.load = [](double) { return Load{MB(20), 0, 1}; };  // needs about 1.2 GB
        original.known = true;
        original.size = rig.server.settings.max_wal_size;
    }

    // One look at a volume on which `room` is the disk ceiling; returns what was ordered.
    Orders LookAt(Bytes room, const HeldWal& held = {}) {
        Observation seen = rig.server.Observe();
        seen.volume.known = true;
        seen.volume.size = 100 * kGiB;
        seen.volume.wal_dir_size = rig.size();
        seen.volume.free = kGiB - rig.size() + room + room / 2;
        seen.volume.held = held;
        Orders orders = rig.tuner.Look(seen, rig.settings, rig.journal);
        if (orders.change == Change::kSet && rig.tuner.NeedsOriginal()) rig.tuner.RememberOriginal(original);
        if (orders.change != Change::kNone) rig.server.ReloadAt(seen.now + 100 * kMillisecond, orders.size);
        rig.server.Advance(seen.now + orders.next_look);
        return orders;
    }
    void RunAt(Bytes room, Micros duration) {
        const Micros end = rig.server.now + duration;
        while (rig.server.now < end) LookAt(room);
    }

    Rig rig;
    Original original;
};

// Up and down by 3 %, for ten minutes of a load that wants more: once at the ceiling, no step of a few
// megabytes up.
TEST_F(DiskWobble, IsNotFollowedInSmallSteps) {
    RunAt(800 * kMiB, kMinute);
    EXPECT_EQ(rig.size(), 800 * kMiB);
    const std::int64_t before = rig.totals.decisions;
    const Micros end = rig.server.now + 10 * kMinute;
    for (int look = 0; rig.server.now < end; ++look) LookAt((800 + look % 50 - 25) * kMiB);
    EXPECT_EQ(rig.totals.raised, 2) << "256 -> 512 -> 800 and no more";
    EXPECT_LE(rig.totals.decisions - before, 3);
    EXPECT_EQ(rig.totals.lowered, 0);
}

// Between the end of a checkpoint and the removal of its segments a whole cycle is older than the redo point,
// and nobody holds it.
TEST_F(DiskWobble, WhatACheckpointIsAboutToRemoveIsNotHeld) {
    RunAt(2 * kGiB, 3 * kMinute);
    const Bytes size = rig.size();
    ASSERT_GT(size, 900 * kMiB);
    rig.server.load = [](double) { return Load{MB(5), 0, 1}; };
    RunAt(size + size / 10, 10 * kMinute);
    ASSERT_EQ(rig.size(), size);

    const Bytes ceiling = rig.tuner.ceiling().size;
    HeldWal passing;
    passing.bytes = 600 * kMiB;
    const Orders orders = LookAt(size + size / 10, passing);
    EXPECT_EQ(rig.tuner.ceiling().size, ceiling);
    EXPECT_EQ(orders.change, Change::kNone) << "gives back for nothing, to " << orders.size / kMiB << " MB";
}

}  // namespace
}  // namespace walsizer::test
