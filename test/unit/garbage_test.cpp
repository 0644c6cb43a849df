// Whatever is observed, the engine neither crashes nor overflows nor loops nor orders anything illegal. Sanitizers
// end the process where it does, so each run is a process of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "rig.hpp"

namespace walsizer::test {
namespace {

class Garbage {
  public:
    Garbage(std::uint32_t seed, bool extreme) : random_(seed), extreme_(extreme) {}

    std::int64_t Below(std::int64_t bound) {
        return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_);
    }
    bool Chance(int percent) { return Below(100) < percent; }
    double Real() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    // Anything, with a liking for the edges.
    std::int64_t Any() {
        if (!extreme_) return Below(std::int64_t{1} << Below(48));
        switch (Below(8)) {
            case 0: return 0;
            case 1: return std::numeric_limits<std::int64_t>::max() - Below(3);
            case 2: return std::numeric_limits<std::int64_t>::min() + Below(3);
            case 3: return -Below(1000);
            default: return static_cast<std::int64_t>(random_()) >> Below(63);
        }
    }

    static void Count(std::int64_t& counter, std::int64_t by) {
        if (counter <= std::numeric_limits<std::int64_t>::max() - by) counter += by;
    }

    void Step(Observation& seen) {
        seen.now += Chance(90) ? Below(2 * kSecond) : Chance(50) ? Below(kHour) : 0;
        if (Chance(2)) seen.now = extreme_ ? Any() / 4 : seen.now + Below(24 * kHour);
        seen.wall = Chance(95) ? seen.wall + kSecond : Any() / 4;
        seen.position += static_cast<Lsn>(Below(Chance(90) ? 50 * kMiB : 50 * kGiB));
        if (Chance(2)) seen.position = static_cast<Lsn>(Any());
        if (Chance(10)) seen.redo = seen.position - static_cast<Lsn>(Below(kGiB));
        if (Chance(2)) seen.redo = static_cast<Lsn>(Any());
        if (Chance(2)) seen.redo = seen.position = 0;
        seen.redo_age = Chance(50) ? -1 : Below(kHour);
        if (Chance(1)) seen.in_recovery = !seen.in_recovery;
        if (Chance(1)) seen.server_start = Any();
        CheckpointCounters& counters = seen.counters;
        counters.known = !Chance(20);
        Count(counters.timed, Below(2));
        Count(counters.requested, Chance(20) ? Below(5) : 0);
        if (Chance(1)) counters.timed = Any();
        if (Chance(1)) counters.requested = Any();
        if (Chance(1)) counters.buffers_written = Any();
        if (Chance(1)) counters.reset_at = Any();
        seen.wal.known = !Chance(20);
        Count(seen.wal.bytes, Below(10 * kMiB));
        Count(seen.wal.fpi_bytes, Below(5 * kMiB));
        if (Chance(1)) seen.wal.bytes = Any();
        if (Chance(1)) seen.wal.fpi_bytes = Any();
        if (Chance(2)) Configure(seen.server);
    }

    // Odd, but what PostgreSQL accepts.
    void Configure(ServerSettings& server) {
        server.max_wal_size = Chance(70) ? (2 + Below(Below(1'000'000) + 1)) * kMiB : kLargestMaxWalSize - Below(2) * kMiB;
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
    }

  private:
    std::mt19937_64 random_;
    bool extreme_;
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
    if (orders.size % seen.server.segment_size != 0) Fail("no whole segments", step, orders.size);
    if (orders.size < 2 * seen.server.segment_size) Fail("below two segments", step, orders.size);
    if (orders.size > kLargestMaxWalSize) Fail("more than PostgreSQL accepts", step, orders.size);
    if (orders.size <= seen.server.max_wal_size) Fail("a raise that is none", step, orders.size);
    if (orders.size > std::max(settings.max, 2 * seen.server.segment_size)) Fail("above max", step, orders.size);
    if (!settings.enable || settings.dry_run) Fail("a change although switched off", step, orders.size);
    if (seen.in_recovery) Fail("a change in recovery", step, orders.size);
}

[[noreturn]] void Feed(std::uint32_t seed, bool extreme, int steps) {
    Garbage garbage(seed, extreme);
    Rig rig;  // for its journal
    Observation seen;
    Original original;
    original.known = true;
    original.size = kGiB;
    for (int step = 0; step < steps; ++step) {
        garbage.Step(seen);
        if (garbage.Chance(2)) garbage.Configure(rig.settings);
        Orders orders = rig.tuner.Look(seen, rig.settings, rig.journal);
        CheckOrders(orders, seen, rig.settings, step);
        if (orders.change == Change::kSet && rig.tuner.NeedsOriginal()) rig.tuner.RememberOriginal(original);
        if (orders.change != Change::kNone) {
            if (garbage.Chance(20)) rig.tuner.ChangeFailed("it failed", "a hint", rig.journal, orders);
            else if (garbage.Chance(80)) seen.server.max_wal_size = orders.size;
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
        // What is shown is computed from the same figures.
        rig.tuner.StateReason(rig.journal);
        if (rig.tuner.Recommended(rig.journal) > kLargestMaxWalSize) Fail("recommends too much", step, 0);
        if (rig.tuner.need(rig.journal).size < 0) Fail("a negative need", step, 0);
        if (rig.tuner.race().left < 0 || rig.tuner.race().timer_left < 0) Fail("a negative race", step, 0);
    }
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
    EXPECT_EXIT(Feed(GetParam(), false, 100'000), testing::ExitedWithCode(0), "");
}

TEST_P(Observations, AtTheEdgesOfTheirTypesNeverCrashOverflowOrOrderAnythingIllegal) {
    EXPECT_EXIT(Feed(GetParam(), true, 100'000), testing::ExitedWithCode(0), "");
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
