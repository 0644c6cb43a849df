// Whatever is observed, the engine neither crashes nor overflows nor loops nor orders anything illegal.
// Sanitizers end the process where it does, so each run is a process of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Garbage {
  public:
    explicit Garbage(std::uint32_t seed) : random_(seed) {}

    std::int64_t Below(std::int64_t bound) {
        return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_);
    }
    bool Chance(int percent) { return Below(100) < percent; }
    double Real() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    // What may well be: WAL flows, now and then something jumps.
    void Step(Observation& seen) {
        seen.now += Chance(90) ? Below(2 * kSecond) : Chance(50) ? Below(kHour) : 0;
        seen.wall = Chance(95) ? seen.wall + kSecond : Some();
        seen.position += static_cast<Lsn>(Below(Chance(90) ? 50 * kMiB : 50 * kGiB));
        if (Chance(2)) seen.position = static_cast<Lsn>(Some());
        if (Chance(10)) seen.redo = seen.position - std::min(seen.position, static_cast<Lsn>(Below(kGiB)));
        if (Chance(2)) seen.redo = static_cast<Lsn>(Some());
        seen.redo_age = Chance(50) ? -1 : Below(kHour);
        if (Chance(1)) seen.in_recovery = !seen.in_recovery;
        if (Chance(1)) seen.server_start = Some();
        seen.replay_current = Chance(80);
        CheckpointCounters& counters = seen.counters;
        counters.known = !Chance(20);
        counters.timed += Below(2);
        counters.requested += Chance(20) ? Below(5) : 0;
        if (Chance(1)) counters.timed = Some();
        if (Chance(1)) counters.requested = Some();
        if (Chance(1)) counters.buffers_written = Some();
        if (Chance(1)) counters.reset_at = Some();
        seen.wal.known = !Chance(20);
        seen.wal.bytes += Below(10 * kMiB);
        seen.wal.fpi_bytes += Below(5 * kMiB);
        if (Chance(1)) seen.wal.bytes = Some();
        if (Chance(1)) seen.wal.fpi_bytes = Some();
        seen.volume.known = Chance(50);
        if (Chance(10)) seen.volume.free = Some();
        if (Chance(5)) seen.volume.size = Some();
        if (Chance(5)) seen.volume.wal_dir_size = Some();
        if (Chance(10)) seen.volume.held.bytes = Some();
        if (Chance(5)) seen.volume.held.bounded = Chance(50);
        if (Chance(2)) Configure(seen.server);
    }

    // What can never be: a few members at the edges of their types.
    Observation Spoilt(Observation seen) {
        std::int64_t* members[] = {&seen.now,
                                   &seen.wall,
                                   &seen.server_start,
                                   &seen.redo_age,
                                   &seen.server.max_wal_size,
                                   &seen.server.segment_size,
                                   &seen.server.checkpoint_timeout,
                                   &seen.counters.timed,
                                   &seen.counters.requested,
                                   &seen.counters.buffers_written,
                                   &seen.counters.reset_at,
                                   &seen.wal.bytes,
                                   &seen.wal.fpi_bytes,
                                   &seen.volume.size,
                                   &seen.volume.free,
                                   &seen.volume.wal_dir_size,
                                   &seen.volume.held.bytes};
        for (int i = 0; i < 3; ++i) *members[Below(std::size(members))] = Edge();
        if (Chance(20)) seen.position = static_cast<Lsn>(Edge());
        if (Chance(20)) seen.redo = static_cast<Lsn>(Edge());
        if (Chance(5)) seen.server.completion_target = std::numeric_limits<double>::quiet_NaN();
        if (Chance(5)) seen.counters.write_time = std::numeric_limits<double>::infinity();
        if (Chance(5)) seen = Observation();
        return seen;
    }

    // Odd, but what PostgreSQL accepts.
    void Configure(ServerSettings& server) {
        server.max_wal_size =
            Chance(70) ? (2 + Below(Below(1'000'000) + 1)) * kMiB : kLargestMaxWalSize - Below(2) * kMiB;
        if (Chance(10)) server.segment_size = kMiB << Below(11);
        server.completion_target = Chance(30) ? static_cast<double>(Below(2)) : Real();
        server.checkpoint_timeout = Chance(20) ? 86400 * kSecond : (30 + Below(600)) * kSecond;
    }
    void Configure(TunerSettings& settings) {
        settings.enable = !Chance(10);
        settings.dry_run = Chance(20);
        settings.anticipate = Chance(50);
        settings.max = Chance(50) ? 1024 * kGiB : (2 + Below(100'000)) * kMiB;
        settings.threshold = static_cast<int>(1 + Below(5));
        settings.target_ratio = Real();
        settings.tune_standby = Chance(80);
        settings.disk_reserve = Chance(50) ? -1 : Below(100 * kGiB);
        settings.max_recovery_time = Chance(50) ? 0 : Below(24 * kHour);
        settings.replay_rate = Chance(80) ? 0 : Real() * 1e10;
        settings.shrink_after = Chance(50) ? 0 : Below(24 * kHour);
    }

  private:
    // Of any magnitude that is not absurd.
    std::int64_t Some() { return Below(std::int64_t{1} << Below(50)); }

    std::int64_t Edge() {
        switch (Below(6)) {
            case 0:
                return 0;
            case 1:
                return std::numeric_limits<std::int64_t>::max() - Below(3);
            case 2:
                return std::numeric_limits<std::int64_t>::min() + Below(3);
            case 3:
                return -Below(1000);
            default:
                return static_cast<std::int64_t>(random_()) >> Below(63);
        }
    }

    std::mt19937_64 random_;
};

[[noreturn]] void Fail(const char* what, int step, std::int64_t value) {
    std::fprintf(stderr, "step %d: %s (%lld)\n", step, what, static_cast<long long>(value));
    std::exit(1);
}

void CheckOrders(const Orders& orders, const Observation& seen, const TunerSettings& settings, int step) {
    if (orders.next_look < 50 * kMillisecond || orders.next_look > kSecond)
        Fail("next look out of bounds", step, orders.next_look);
    if (orders.log_count > Orders::kLogLines) Fail("too many log lines", step, orders.log_count);
    if (orders.change != Change::kSet) return;
    const Bytes floor = 2 * seen.server.segment_size;
    if (orders.size % seen.server.segment_size != 0) Fail("no whole segments", step, orders.size);
    if (orders.size < floor) Fail("below two segments", step, orders.size);
    if (orders.size > kLargestMaxWalSize) Fail("more than PostgreSQL accepts", step, orders.size);
    if (orders.size == seen.server.max_wal_size) Fail("a change that is none", step, orders.size);
    if (orders.size > seen.server.max_wal_size && orders.size > std::max(settings.max, floor))
        Fail("a raise above max", step, orders.size);
    if (!settings.enable || settings.dry_run) Fail("a change although switched off", step, orders.size);
    if (seen.in_recovery && !settings.tune_standby) Fail("a change in recovery", step, orders.size);
}

void CheckWhatIsShown(Rig& rig, int step) {
    rig.tuner.StateReason(rig.journal);
    if (rig.tuner.Recommended(rig.journal) > kLargestMaxWalSize) Fail("recommends too much", step, 0);
    if (rig.tuner.need(rig.journal).size < 0) Fail("a negative need", step, 0);
    if (rig.tuner.race().left < 0 || rig.tuner.race().timer_left < 0) Fail("a negative race", step, 0);
    const Totals& totals = rig.totals;
    if (totals.wal_bytes < 0 || totals.checkpoints.timed < 0 || totals.checkpoints.requested < 0 ||
        totals.checkpoints.wal_forced < 0 || totals.checkpoints.stale < 0)
        Fail("a negative total", step, 0);
}

[[noreturn]] void Feed(std::uint32_t seed, int spoilt_percent, int steps) {
    Garbage garbage(seed);
    Rig rig;  // for its journal
    Observation seen;
    Original original;
    original.known = true;
    original.size = kGiB;
    std::uint64_t looks_that_counted = 0;
    for (int step = 0; step < steps; ++step) {
        garbage.Step(seen);
        if (garbage.Chance(2)) garbage.Configure(rig.settings);
        const bool spoilt = garbage.Chance(spoilt_percent);
        const Observation offered = spoilt ? garbage.Spoilt(seen) : seen;
        Orders orders = rig.tuner.Look(offered, rig.settings, rig.journal);
        looks_that_counted += rig.tuner.tracker().latest().now == offered.now;
        if (!spoilt || orders.change != Change::kNone) CheckOrders(orders, offered, rig.settings, step);
        if (orders.change == Change::kSet && rig.tuner.NeedsOriginal()) rig.tuner.RememberOriginal(original);
        if (orders.change != Change::kNone) {
            if (garbage.Chance(20))
                rig.tuner.ChangeFailed("it failed", "a hint", rig.journal, orders);
            else if (garbage.Chance(80))
                seen.server.max_wal_size = orders.size;
        }
        if (garbage.Chance(3)) {
            Orders asked;
            Command command;
            command.kind = static_cast<CommandKind>(garbage.Below(4));
            rig.tuner.Execute(command, rig.journal, asked);
            if (asked.change == Change::kRestore && garbage.Chance(80)) seen.server.max_wal_size = asked.size;
        }
        if (garbage.Chance(1)) rig.tuner.ConfigurationReloaded();
        if (garbage.Chance(1)) rig.tuner.Stop(rig.journal);
        if (garbage.Chance(1)) rig.RestartTuner();
        CheckWhatIsShown(rig, step);
    }
    // One that ignored everything would pass too.
    if (looks_that_counted < static_cast<std::uint64_t>(steps) / 4)
        Fail("hardly anything was looked at", steps, static_cast<std::int64_t>(looks_that_counted));
    std::exit(0);
}

[[noreturn]] void FeedTheSame(Observation seen, Micros step, Bytes wal, int redo_every) {
    Rig rig;
    for (int look = 0; look < 1000; ++look) {
        rig.tuner.Look(seen, rig.settings, rig.journal);
        seen.now += step;
        seen.position += static_cast<Lsn>(wal);
        if (redo_every != 0 && look % redo_every == 0) seen.redo = seen.position;
    }
    std::exit(0);
}

class Observations : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Observations, ThatAreImplausibleNeverCrashOverflowOrOrderAnythingIllegal) {
    EXPECT_EXIT(Feed(GetParam(), 0, 100'000), testing::ExitedWithCode(0), "");
}

TEST_P(Observations, AtTheEdgesOfTheirTypesNeverCrashOverflowOrOrderAnythingIllegal) {
    EXPECT_EXIT(Feed(GetParam(), 20, 100'000), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Observations, testing::Values(1U, 2U, 3U));

TEST(ObservationsOf, NothingButZerosAreSurvived) {
    EXPECT_EXIT(FeedTheSame(Observation(), 0, 0, 0), testing::ExitedWithCode(0), "");
}

// A server that could not be read: settings of zero must not divide anything.
TEST(ObservationsOf, SettingsOfZeroAreSurvived) {
    Observation seen;
    seen.server = {0, 0, 0, 0};
    EXPECT_EXIT(FeedTheSame(seen, kSecond, kMiB, 10), testing::ExitedWithCode(0), "");
}

TEST(ObservationsOf, OneAndTheSameInstantAreSurvived) {
    EXPECT_EXIT(FeedTheSame(Observation(), 0, kGiB, 3), testing::ExitedWithCode(0), "");
}

TEST(ObservationsOf, AClockThatGoesBackAreSurvived) {
    Observation seen;
    seen.now = kHour;
    EXPECT_EXIT(FeedTheSame(seen, -kSecond, kGiB, 3), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace walsizer::test
