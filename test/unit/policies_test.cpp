// Policies on the simulated server: the rules do what they say, and leaving out looks changes no decision.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "simulator/report.hpp"

namespace walsizer::simulator {
namespace {

TEST(Multiplying, MultipliesByRequestsPlusOne) {
    // 512 MB: 16 segments. 4 requests by commands in the first window, and WAL asks for none.
    const Trace trace = ParseTrace(
        "set max_wal_size 512MB\nset checkpoint_timeout 1min\n"
        "repeat 4\n for 10s records 100kB/s\n checkpoint\nend\nfor 20min records 100kB/s\n",
        "t");
    MultiplyingPolicy policy(false);
    const RunResult run = RunPolicy(trace, policy);
    ASSERT_EQ(run.changes.size(), 1U);
    EXPECT_EQ(run.changes[0].size, 2560 * kMiB);
    EXPECT_EQ(run.figures.forced, 0);
}

TEST(Multiplying, TakesAQuarterOffAfterFiveQuietWindows) {
    const Trace trace = ParseTrace(
        "set max_wal_size 512MB\nset checkpoint_timeout 1min\n"
        "repeat 4\n for 10s records 100kB/s\n checkpoint\nend\nfor 60min records 100kB/s\n",
        "t");
    MultiplyingPolicy policy(true);
    const RunResult run = RunPolicy(trace, policy);
    ASSERT_GE(run.changes.size(), 3U);
    EXPECT_EQ(run.changes[1].size, 1920 * kMiB);
    EXPECT_EQ(run.changes[1].at - run.changes[0].at, 5 * kMinute);
    EXPECT_EQ(run.final_size, 512 * kMiB);  // not below where it began
}

TEST(Multiplying, StopsAtTheCeiling) {
    const Trace trace = ParseTrace("set max 3GB\nfor 2h records 40MB/s\n", "t");
    MultiplyingPolicy policy(false);
    const RunResult run = RunPolicy(trace, policy);
    EXPECT_EQ(run.final_size, 3 * kGiB);
    EXPECT_EQ(run.figures.in_violation, 0);
}

TEST(Hindsight, IsTheSmallestSizeWithoutAForcedCheckpoint) {
    const Trace trace = ParseTrace("for 2h records 6MB/s touches 1500/s of 60k\n", "t");
    const Bytes size = HindsightSize(trace);
    EXPECT_EQ(RunFixed(trace, size).figures.forced, 0);
    EXPECT_GT(RunFixed(trace, size - 16 * kMiB).figures.forced, 0);
    const Trace ceiling = ParseTrace("set max 2GB\nfor 2h records 6MB/s touches 1500/s of 60k\n", "t");
    EXPECT_EQ(HindsightSize(ceiling), 2 * kGiB);
}

TEST(Walsizer, PreventsWhatOthersCount) {
    const Trace trace = ParseTrace("set steady yes\nfor 4h records 6MB/s touches 1500/s of 60k\n", "steady");
    const TraceResult result = Compare(trace);
    EXPECT_EQ(result.runs[static_cast<int>(PolicyKind::kWalsizer)].figures.forced, 0);
    EXPECT_GT(result.runs[static_cast<int>(PolicyKind::kReactive)].figures.forced, 1);
    EXPECT_GT(result.runs[static_cast<int>(PolicyKind::kMultiply)].figures.forced, 4);
    EXPECT_GE(result.Ratio(PolicyKind::kWalsizer), 1.0);
    EXPECT_LE(result.Ratio(PolicyKind::kWalsizer), 1.5);
    EXPECT_EQ(result.runs[static_cast<int>(PolicyKind::kHindsight)].figures.forced, 0);
}

TEST(Walsizer, LearnsFromACrash) {
    const Trace trace = ParseTrace(
        "set replay_rate 200MB/s\nset max_wal_size 4GB\nfor 4min records 5MB/s\ncrash\nfor 10min records "
        "5MB/s\n",
        "t");
    WalsizerPolicy policy(trace.tuner, true);
    RunPolicy(trace, policy);
    EXPECT_EQ(policy.tuner().recovery().source, ReplayRateSource::kMeasured);
    EXPECT_NEAR(policy.tuner().recovery().rate, 200.0 * kMiB, 40.0 * kMiB);
}

// A bulk load: statements that each keep the trigger they began with, the last one for longer than all
// before.
constexpr const char* kBulkLoad =
    "for 10min records 100kB/s\ncheckpoint\nfor 10s\n"
    "statement 20s\nfor 20s records 82MB/s touches 60/s\n"
    "statement 8s\nfor 8s records 85MB/s touches 60/s\n"
    "statement 90s\nfor 90s records 46MB/s touches 3k/s of 230k\n"
    "for 20min records 100kB/s\n";

TEST(Walsizer, KeepsTheCheckpointOfALongStatementSpread) {
    const std::string text = kBulkLoad;
    const Trace once = ParseTrace(text, "once");
    WalsizerPolicy policy(once.tuner, true);
    const RunResult run = RunPolicy(once, policy);
    // COPY's own trigger, COPY's request that waited, and the last statement's.
    EXPECT_LE(run.figures.forced, 3);
    const CheckpointCounts& counts = policy.journal().totals.checkpoints;
    EXPECT_EQ(counts.wal_forced + counts.stale, run.figures.forced) << "none is taken for a command's";
    std::string reasons;
    for (std::uint32_t age = 0; age < policy.journal().decisions.size(); ++age)
        reasons.append(policy.journal().decisions.Newest(age).reason.c_str()).append("\n");
    EXPECT_NE(reasons.find(" while a statement that still has an older one forces checkpoints"),
              std::string::npos)
        << reasons;
    // At most doubling, and to a value that the same load can begin with.
    for (std::size_t i = 1; i < run.changes.size(); ++i)
        EXPECT_LE(run.changes[i].size, 2 * run.changes[i - 1].size);
    const Trace twice = ParseTrace("set max_wal_size 1GB\n" + text + text, "twice");
    WalsizerPolicy again(twice.tuner, true);
    EXPECT_EQ(RunPolicy(twice, again).figures.forced, run.figures.forced);
}

// Nothing spreads it, so no raise would help: the rule for the end of a window remains.
TEST(Walsizer, DoesNotSeeThroughAStatementWhoseCheckpointsAreOverAtOnce) {
    const Trace trace = ParseTrace(
        "set checkpoint_completion_target 0.01\nset max_wal_size 64MB\nfor 1min records 1kB/s\n"
        "statement 20s\nfor 20s records 40MB/s\nfor 1min records 1kB/s\n",
        "t");
    WalsizerPolicy policy(trace.tuner, true);
    EXPECT_EQ(RunPolicy(trace, policy).changes.size(), 1U);
    EXPECT_GE(policy.journal().totals.checkpoints.stale, 5);
}

// Fourteen raises in a few minutes, each of which leaves an older trigger behind: the statement's own is not
// forgotten.
TEST(Walsizer, KnowsALongStatementThroughManyRaises) {
    const Trace trace = ParseTrace(
        "set max_wal_size 64MB\nfor 10min records 100kB/s\nstatement 50min\nfor 50min records 30MB/s\n"
        "for 10min records 100kB/s\n",
        "t");
    TunerSettings settings = trace.tuner;
    settings.max = 1024 * kGiB;
    settings.max_recovery_time = 0;
    WalsizerPolicy policy(settings, true);
    const RunResult run = RunPolicy(trace, policy);
    EXPECT_GE(run.changes.size(), 12U);
    const CheckpointCounts& counts = policy.journal().totals.checkpoints;
    EXPECT_GE(counts.stale, 1000);
    EXPECT_EQ(counts.requested, counts.wal_forced + counts.stale);
}

struct SkipCase {
    const char* name;
    const char* text;
    // Reacting to a ramp is a matter of seconds: a checkpoint that WAL forces just before the timer would
    // have come is decided by one segment more or less, and with it all that follows.
    bool only_as_shipped = false;
};
void PrintTo(const SkipCase& skip, std::ostream* out) {
    *out << skip.name;
}

class Skipping : public testing::TestWithParam<SkipCase> {};

// The same steps at the same time, the same checkpoints: as if it had looked each second.
TEST_P(Skipping, ChangesNoDecision) {
    const Trace trace = ParseTrace(GetParam().text, GetParam().name);
    for (const bool anticipate : {true, false}) {
        TunerSettings settings = trace.tuner;
        settings.anticipate = anticipate;
        if (!anticipate && GetParam().only_as_shipped) continue;
        WalsizerPolicy all(settings, false);
        WalsizerPolicy few(settings, true);
        const RunResult looked = RunPolicy(trace, all);
        const RunResult skipped = RunPolicy(trace, few);
        ASSERT_EQ(looked.changes.size(), skipped.changes.size());
        for (std::size_t i = 0; i < looked.changes.size(); ++i) {
            const auto size = static_cast<double>(looked.changes[i].size);
            EXPECT_NEAR(static_cast<double>(looked.changes[i].at), static_cast<double>(skipped.changes[i].at),
                        2.0 * kSecond);
            EXPECT_NEAR(size, static_cast<double>(skipped.changes[i].size),
                        std::max(0.01 * size, static_cast<double>(trace.server.segment_size)));
        }
        EXPECT_EQ(looked.figures.forced, skipped.figures.forced);
        EXPECT_EQ(looked.figures.timed, skipped.figures.timed);
        const Totals& totals = all.journal().totals;
        EXPECT_EQ(totals.checkpoints.wal_forced, few.journal().totals.checkpoints.wal_forced);
        EXPECT_EQ(totals.checkpoints.timed, few.journal().totals.checkpoints.timed);
        EXPECT_EQ(totals.decisions, few.journal().totals.decisions);
        EXPECT_LT(skipped.looks, looked.looks);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, Skipping,
    testing::Values(
        SkipCase{"steady", "for 3h records 6MB/s touches 1500/s of 60k\n"},
        SkipCase{"ramp",
                 "ramp 3h in 36 steps from records 500kB/s touches 100/s of 50k to records 15MB/s touches "
                 "3000/s of 50k\nfor 1h records 15MB/s touches 3000/s of 50k\n",
                 true},
        SkipCase{"bursts",
                 "set max_wal_size 512MB\nrepeat 30\n for 320s records 50kB/s touches 10/s of 5k\n for 15s "
                 "records 30MB/s touches 500/s of 20k\nend\n"},
        SkipCase{"spikes",
                 "set seed 11\nspikes 8h every 20min lasting 10s..90s base records 1500kB/s touches 300/s of "
                 "40k peak records 40MB/s touches 4000/s of 200k\n"},
        SkipCase{"images", "for 4h records 250kB/s touches 500/s of 6M\n"},
        SkipCase{"tiny", "set max_wal_size 64MB\nfor 4h records 120kB/s touches 40/s of 3k\n"},
        SkipCase{"idle", "for 1h\nfor 10min records 3MB/s\nfor 3h\n"},
        SkipCase{"commands",
                 "repeat 60\n for 40s records 600kB/s touches 300/s of 5k\n checkpoint\n for 80s records "
                 "1MB/s touches 300/s of 5k\nend\n"},
        SkipCase{"statement",
                 "set max_wal_size 2GB\nfor 1h records 800kB/s\nstatement 10min\nfor 10min records "
                 "45MB/s\nfor 1h records 800kB/s touches 200/s of 30k\n"},
        SkipCase{"bulk_load", kBulkLoad},
        SkipCase{"disk",
                 "set disk_size 12GB\nset disk_used 2GB\nfor 2h records 25MB/s touches 2500/s of 100k\n"},
        SkipCase{"shrinks",
                 "set shrink_after 2h\nfor 30min records 12MB/s touches 500/s of 20k\nfor 6h records "
                 "500kB/s touches 50/s of 20k\n"}),
    [](const auto& skip) { return std::string(skip.param.name); });

TEST(Report, FitsATerminalAndHasARowForEachPolicy) {
    std::vector<Trace> traces = {
        ParseTrace("set steady yes\nfor 1h records 6MB/s touches 1500/s of 60k\n", "steady"),
        ParseTrace("for 30min records 90MB/s\n", "a_rather_long_name")};
    std::vector<TraceResult> results;
    for (const Trace& trace : traces) results.push_back(Compare(trace));
    std::ostringstream text;
    PrintTables(text, results);
    PrintVerdict(text, results);
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    std::ostringstream csv;
    PrintCsv(csv, results);
    std::istringstream rows(csv.str());
    int count = 0;
    std::ptrdiff_t commas = -1;
    for (std::string row; std::getline(rows, row); ++count) {
        const auto here = std::count(row.begin(), row.end(), ',');
        if (commas >= 0) {
            EXPECT_EQ(here, commas) << row;
        }
        commas = here;
    }
    EXPECT_EQ(count, 1 + 2 * 5);
}

TEST(Report, AVerdictTellsABrokenPromise) {
    const Trace trace = ParseTrace("set steady yes\nfor 1h records 6MB/s\n", "steady");
    TraceResult result = Compare(trace);
    std::ostringstream good;
    EXPECT_EQ(PrintVerdict(good, {result}), 0) << good.str();
    RunResult& ours = result.runs[static_cast<int>(PolicyKind::kWalsizer)];
    ours.figures.forced = 1000;
    ours.figures.in_violation = kSecond;
    ours.final_size *= 3;
    std::ostringstream bad;
    EXPECT_EQ(PrintVerdict(bad, {result}), 4) << bad.str();
    EXPECT_NE(bad.str().find("steady (1000, "), std::string::npos) << bad.str();
}

}  // namespace
}  // namespace walsizer::simulator
