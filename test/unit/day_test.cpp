// A whole day of a server's life, in simulated time: what must hold at every single look.
#include <gtest/gtest.h>

#include <algorithm>

#include "rig.hpp"

namespace walsizer::test {
namespace {

constexpr Bytes kVolume = 40 * kGiB;

// A quiet night, a busy day with a wave every twenty minutes, a bulk load now and then.
Load LoadAt(double second) {
    const double hour = second / 3600;
    const double day = std::max(0.0, std::sin((hour - 6) / 24 * 2 * 3.14159265));
    const double wave = 1 + 0.5 * std::sin(second / 1200 * 2 * 3.14159265);
    const bool bulk = std::fmod(second, 5 * 3600) < 90;
    return Load{MB(0.2) + MB(12) * day * wave + (bulk ? MB(90) : 0), MB(8) * day, 40};
}

struct Counts {
    std::int64_t timed, requested, forced, stale, raised, lowered, failed, decisions;
    Bytes wal;
};

Counts Read(const Totals& totals) {
    const CheckpointCounts& checkpoints = totals.checkpoints;
    return {checkpoints.timed, checkpoints.requested, checkpoints.wal_forced,
            checkpoints.stale, totals.raised,         totals.lowered,
            totals.failed,     totals.decisions,      totals.wal_bytes};
}

bool Rose(const Counts& before, const Counts& now) {
    return now.timed >= before.timed && now.requested >= before.requested && now.forced >= before.forced &&
           now.stale >= before.stale && now.raised >= before.raised && now.lowered >= before.lowered &&
           now.failed >= before.failed && now.decisions >= before.decisions && now.wal >= before.wal;
}

TEST(Day, NeverShrinksNeverPassesTheCeilingAndOnlyCountsUp) {
    Rig rig;
    rig.settings.max = 6 * kGiB;
    rig.settings.max_recovery_time = 5 * kMinute;
    rig.server.settings.max_wal_size = 256 * kMiB;
    rig.server.load = LoadAt;

    Bytes size = rig.size();
    Counts counts = Read(rig.totals);
    Timestamp last_window_end = 0;
    int forced = 0;
    int avoidable = 0;  // below the ceiling
    const Micros end = rig.server.now + 24 * kHour;
    while (rig.server.now < end) {
        const Orders orders = rig.Look();
        const Counts now = Read(rig.totals);
        ASSERT_TRUE(Rose(counts, now)) << "at " << rig.server.now;
        counts = now;
        ASSERT_GE(rig.size(), size) << "shrank at " << rig.server.now;
        size = rig.size();
        const Ceiling ceiling = rig.tuner.ceiling();
        ASSERT_LE(size, ceiling.size) << "above the ceiling at " << rig.server.now;
        ASSERT_LE(ceiling.size, 6 * kGiB);
        avoidable += size < ceiling.size ? rig.server.Count(Why::kWal) - forced : 0;
        forced = rig.server.Count(Why::kWal);
        ASSERT_EQ(size % rig.server.settings.segment_size, 0);
        ASSERT_GE(orders.next_look, 50 * kMillisecond);
        ASSERT_LE(orders.next_look, kSecond);
        ASSERT_NE(orders.change, Change::kRestore);
        if (rig.journal.windows.size() > 0) {
            ASSERT_GE(rig.journal.windows.Newest(0).end, last_window_end);
            last_window_end = rig.journal.windows.Newest(0).end;
        }
        rig.server.Advance(rig.server.now + orders.next_look);
    }
    // A day of five-minute windows, each with its WAL, none twice.
    EXPECT_NEAR(static_cast<double>(rig.journal.windows.size()), 24.0 * 12, 2);
    EXPECT_GE(rig.looks, 24 * 3600);
    EXPECT_GT(counts.raised, 0);
    EXPECT_EQ(counts.lowered, 0);
    EXPECT_EQ(counts.failed, 0);
    // And it did its job: no forced checkpoint that the ceiling did not impose, not a row for every window.
    EXPECT_EQ(size, 6 * kGiB);
    EXPECT_GT(forced, 0);
    EXPECT_LE(avoidable, 2);
    EXPECT_LT(rig.journal.decisions.size(), 40U);
    EXPECT_LT(rig.log.size(), 80U);
}

// The volume takes part: what pg_wal gains the volume loses, and others fill it for some hours. Only
// walsizer's own growth is given back, and the counters still only rise.
TEST(Day, OnAVolumeThatOthersFillGivesBackNoMoreThanItTook) {
    Rig rig;
    rig.settings.max = 30 * kGiB;
    rig.settings.disk_reserve = 8 * kGiB;
    rig.server.settings.max_wal_size = 256 * kMiB;
    rig.server.load = LoadAt;
    Counts counts = Read(rig.totals);
    bool gave_back = false;
    const Micros begin = rig.server.now;
    while (rig.server.now < begin + 24 * kHour) {
        Observation seen = rig.server.Observe();
        const double hour = static_cast<double>(seen.now - begin) / kHour;
        const Bytes others = hour >= 15 && hour < 18 ? 33 * kGiB : 10 * kGiB;
        seen.volume.known = true;
        seen.volume.size = kVolume;
        seen.volume.wal_dir_size = rig.size();
        seen.volume.free = std::max<Bytes>(kVolume - others - rig.size(), 0);
        const Bytes before = rig.size();
        Orders orders = rig.tuner.Look(seen, rig.settings, rig.journal);
        if (orders.change == Change::kSet && rig.tuner.NeedsOriginal()) {
            Original original;
            original.known = true;
            original.size = before;
            rig.tuner.RememberOriginal(original);
        }
        if (orders.change != Change::kNone) {
            ASSERT_GE(orders.size, 256 * kMiB) << "below what the DBA had, at hour " << hour;
            gave_back = gave_back || orders.size < before;
            ASSERT_TRUE(orders.size >= before || (hour >= 15 && hour < 18)) << "gave back at hour " << hour;
            ASSERT_TRUE(orders.size <= before || orders.size <= rig.tuner.ceiling().size) << "hour " << hour;
            rig.server.ReloadAt(seen.now + 100 * kMillisecond, orders.size);
        }
        const Counts now = Read(rig.totals);
        ASSERT_TRUE(Rose(counts, now)) << "at hour " << hour;
        counts = now;
        rig.server.Advance(seen.now + orders.next_look);
    }
    EXPECT_TRUE(gave_back);
    EXPECT_GT(counts.lowered, 0);
    EXPECT_LT(rig.journal.decisions.size(), 60U);
}

}  // namespace
}  // namespace walsizer::test
