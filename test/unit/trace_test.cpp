// Traces: what they mean, and what is said of a wrong one.
#include <gtest/gtest.h>

#include "simulator/trace.hpp"

namespace walsizer::simulator {
namespace {

std::string ErrorOf(const std::string& text) {
    try {
        ParseTrace(text, "my.trace");
    } catch (const TraceError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Trace, ReadsLoadsWithUnits) {
    const Trace trace = ParseTrace(
        "# A title.\n"
        "set max_wal_size 2GB   # where it starts\n"
        "set checkpoint_timeout 90s\n"
        "set image_size 2kB\n"
        "\n"
        "for 1.5h records 5MB/s touches 2k/s of 80k touches 500/s\n",
        "my.trace");
    EXPECT_EQ(trace.title, "A title.");
    EXPECT_EQ(trace.server.max_wal_size, 2 * kGiB);
    EXPECT_EQ(trace.server.checkpoint_timeout, 90 * kSecond);
    ASSERT_EQ(trace.steps.size(), 1U);
    EXPECT_EQ(trace.Length(), 90 * kMinute);
    const PaperLoad& load = trace.steps[0].load;
    EXPECT_EQ(load.records, 5.0 * kMiB);
    EXPECT_EQ(load.sets[0].touches, 2000);
    EXPECT_EQ(load.sets[0].pages, 80000);
    EXPECT_EQ(load.sets[1].touches, 500);
    EXPECT_EQ(load.sets[1].pages, 0);  // without end
    EXPECT_EQ(load.image_size, 2048);
}

TEST(Trace, RepeatsNestAndCommandsTakeNoTime) {
    const Trace trace = ParseTrace(
        "repeat 3\n for 10s\n repeat 2\n  checkpoint\n  for 5s records 1MB/s\n end\n statement "
        "7s\nend\ncrash\nfor 1s\n",
        "my.trace");
    EXPECT_EQ(trace.Length(), 61 * kSecond);
    int checkpoints = 0;
    int statements = 0;
    for (const TraceStep& step : trace.steps) {
        checkpoints += step.kind == TraceStep::Kind::kCheckpoint;
        statements += step.kind == TraceStep::Kind::kStatement;
    }
    EXPECT_EQ(checkpoints, 6);
    EXPECT_EQ(statements, 3);
    EXPECT_EQ(trace.steps[trace.steps.size() - 2].kind, TraceStep::Kind::kCrash);
}

TEST(Trace, ARampClimbsInSteps) {
    const Trace trace = ParseTrace(
        "ramp 10min in 5 steps from records 1MB/s touches 10/s of 100 to records 11MB/s touches 110/s of "
        "100\n",
        "my.trace");
    ASSERT_EQ(trace.steps.size(), 5U);
    EXPECT_EQ(trace.Length(), 10 * kMinute);
    EXPECT_DOUBLE_EQ(trace.steps[0].load.records, 2.0 * kMiB);
    EXPECT_DOUBLE_EQ(trace.steps[4].load.records, 10.0 * kMiB);
    EXPECT_DOUBLE_EQ(trace.steps[2].load.sets[0].touches, 60);
    EXPECT_DOUBLE_EQ(trace.steps[2].load.sets[0].pages, 100);
}

TEST(Trace, SpikesAreRandomButAlwaysTheSame) {
    const std::string spikes =
        "spikes 10h every 5min lasting 10s..50s base records 1MB/s peak records 9MB/s\n";
    const Trace one = ParseTrace("set seed 5\n" + spikes, "a");
    const Trace same = ParseTrace("set seed 5\n" + spikes, "b");
    const Trace other = ParseTrace("set seed 6\n" + spikes, "c");
    EXPECT_EQ(one.Length(), 10 * kHour);
    ASSERT_EQ(one.steps.size(), same.steps.size());
    Micros high = 0;
    int peaks = 0;
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
        EXPECT_EQ(one.steps[i].time, same.steps[i].time);
        if (one.steps[i].load.records < 5.0 * kMiB) continue;
        EXPECT_LE(one.steps[i].time, 50 * kSecond);
        high += one.steps[i].time;
        ++peaks;
    }
    // 10 hours hold about 109 gaps of 5 minutes and spikes of 30 seconds.
    EXPECT_NEAR(peaks, 109, 30);
    EXPECT_NEAR(static_cast<double>(high) / peaks, 30.0 * kSecond, 5.0 * kSecond);
    EXPECT_NE(one.steps[0].time, other.steps[0].time);
}

TEST(Trace, TellsFileLineAndWhatWasExpected) {
    EXPECT_EQ(ErrorOf("for 10min records 5MB/s\nfor 5 records 1MB/s\n"),
              "my.trace:2: \"5\" is no duration such as 90s or 5min");
    EXPECT_EQ(ErrorOf("for 10min records 5MB\n"),
              "my.trace:1: \"5MB\" is no rate of WAL records such as 5MB/s");
    EXPECT_EQ(ErrorOf("\n\nfor 10min records\n"),
              "my.trace:3: expected rate of WAL records at the end of the line");
    EXPECT_EQ(ErrorOf("four 10min\n"),
              "my.trace:1: \"four\" is no keyword: set, for, ramp, spikes, checkpoint, statement, crash, "
              "repeat, end");
    EXPECT_EQ(ErrorOf("set maximum 1GB\nfor 1s\n"), "my.trace:1: \"maximum\" is no setting of a trace");
    EXPECT_EQ(ErrorOf("set wal_segment_size 24MB\n"),
              "my.trace:1: wal_segment_size is a power of two from 1MB to 1GB");
    EXPECT_EQ(ErrorOf("repeat 2\nfor 1s\n"), "my.trace:2: a repeat has no end");
    EXPECT_EQ(ErrorOf("for 1s\nend\n"), "my.trace:2: end without a repeat");
    EXPECT_EQ(ErrorOf("repeat 1.5\n"), "my.trace:1: number of repetitions must be a whole number from 1");
    EXPECT_EQ(ErrorOf("ramp 1h in 5 step from records 1MB/s\n"),
              "my.trace:1: expected \"steps\", not \"step\"");
    EXPECT_EQ(ErrorOf("for 1s records 1MB/s 2MB/s\n"), "my.trace:1: \"2MB/s\" is one word too many");
    EXPECT_EQ(
        ErrorOf(
            "for 1s touches 1/s touches 1/s touches 1/s touches 1/s touches 1/s touches 1/s touches 1/s\n"),
        "my.trace:1: a load has at most six working sets");
    EXPECT_EQ(ErrorOf("spikes 1h every 1min lasting 9s..3s base peak\n"),
              "my.trace:1: range of durations begins after its end");
    EXPECT_EQ(ErrorOf("# nothing\n"),
              "my.trace:1: the trace has no load: a line such as \"for 10min records 5MB/s\"");
    EXPECT_EQ(ErrorOf("repeat 2M\nrepeat 100\nfor 1s\nend\nend\n"),
              "my.trace:5: the trace has more than two million steps");
    EXPECT_EQ(ErrorOf("for -1s\n"), "my.trace:1: \"-1s\" is no duration such as 90s or 5min");
    EXPECT_EQ(ErrorOf("for 1e99d\n"), "my.trace:1: \"1e99d\" is no duration such as 90s or 5min");
    EXPECT_EQ(ErrorOf("for nans\n"), "my.trace:1: \"nans\" is no duration such as 90s or 5min");
}

TEST(Trace, SaysWhichFileIsMissing) {
    EXPECT_THROW(ReadTrace("/nonexistent/x.trace"), TraceError);
    EXPECT_THROW(ReadTraces("/nonexistent"), TraceError);
}

}  // namespace
}  // namespace walsizer::simulator
