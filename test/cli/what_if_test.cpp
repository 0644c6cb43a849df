// The what-if table and the engine's findings, from what a log shows.
#include "cli/what_if.hpp"

#include <gtest/gtest.h>

#include "cli/log/log_findings.hpp"
#include "cli/print_advice.hpp"
#include "cli/recommend.hpp"

namespace walsizer::cli {
namespace {

// A log of checkpoints, each so long after the one before and with so much WAL.
class Log {
  public:
    Log() { advice.recommendation.size = server().max_wal_size; }

    ServerSettings server() const { return advice.settings.ForEngine(); }
    Checkpoint& Add(Micros interval, Bytes wal, Cause cause) {
        at_ += interval;
        Checkpoint& checkpoint = history.emplace_back();
        checkpoint.started = Instant{at_};
        checkpoint.cause = cause;
        checkpoint.wal_bytes = wal;
        checkpoint.interval = checkpoint.written_in = interval;
        checkpoint.write_time = checkpoint.sync_time = 0;
        checkpoint.buffers = 100;
        return checkpoint;
    }
    WhatIfTable Ask() {
        const LogRecord record(history, server(), false);
        return ReplayAtOtherSizes({record.buckets(), FirstTouchCurve(), "nobody knows", ""},
                                  LimitsOf(advice, Evidence(), CeilingOptions()), advice);
    }
    // Codes of the engine's findings, each with a space behind.
    std::string Findings(bool standby = false) {
        const LogRecord record(history, server(), standby);
        advice.standby = standby;
        AddEngineFindings(record, LimitsOf(advice, Evidence(), CeilingOptions()), true, advice);
        std::string codes;
        for (const Finding& finding : advice.findings) codes += finding.code + " ";
        return codes;
    }

    ServerAdvice advice;
    std::vector<Checkpoint> history;

  private:
    Timestamp at_ = 800'000'000 * kSecond;
};

const WhatIfSize* RowOf(const WhatIfTable& table, Bytes size) {
    for (const WhatIfSize& row : table.sizes)
        if (row.max_wal_size == size) return &row;
    return nullptr;
}

const WhatIfSize* RowOf(WhatIfTable&&, Bytes) = delete;

TEST(WhatIfTable, ReplaysForcedCheckpointsAtOtherSizes) {
    Log log;
    for (int i = 0; i < 120; ++i) log.Add(kMinute, 544 * kMiB, Cause::kWal);
    log.advice.recommendation.size = 8 * kGiB;
    const WhatIfTable table = log.Ask();
    const WhatIfSize* present = RowOf(table, kGiB);
    const WhatIfSize* recommended = RowOf(table, 8 * kGiB);
    ASSERT_TRUE(present != nullptr && recommended != nullptr);
    EXPECT_NEAR(present->forced_per_hour, 60, 1.5);
    EXPECT_EQ(present->trigger_size, TriggerSize(kGiB, log.server()));
    EXPECT_FALSE(present->is_bound);
    EXPECT_EQ(present->note, "present");
    // 544 MB a minute are 2.7 GB in 5 minutes; 8 GB force at 4.2 GB.
    EXPECT_EQ(recommended->forced_per_hour, 0);
    EXPECT_NEAR(recommended->timed_per_hour, 12, 0.6);
    EXPECT_TRUE(recommended->is_bound);
    EXPECT_EQ(recommended->note, "recommended; bound: at most this much, since nobody knows");
    const WhatIfSize* half = RowOf(table, 512 * kMiB);
    ASSERT_NE(half, nullptr);
    EXPECT_NEAR(half->forced_per_hour, 120, 12);
    EXPECT_NE(half->note.find("at least"), std::string::npos);
    EXPECT_GT(half->recovery_estimate, 0);
    EXPECT_FALSE(half->fits_disk.has_value());
    // One size beyond that forces nothing is enough.
    EXPECT_EQ(table.sizes.back().max_wal_size, 16 * kGiB);
}

TEST(WhatIfTable, TooLittleIsNoTable) {
    Log log;
    for (int i = 0; i < 4; ++i) log.Add(kMinute, 544 * kMiB, Cause::kWal);
    const WhatIfTable table = log.Ask();
    EXPECT_TRUE(table.sizes.empty());
    EXPECT_NE(table.note.find("240 s of WAL on record"), std::string::npos) << table.note;
}

TEST(WhatIfTable, UnknownWalIsNotOnRecord) {
    Log log;
    for (int i = 0; i < 20; ++i) log.Add(kMinute, -1, Cause::kWal);
    EXPECT_TRUE(log.Ask().sizes.empty());
}

TEST(WhatIfTable, IdleTicksAreNotCheckpoints) {
    Log log;
    for (int i = 0; i < 12; ++i) log.Add(kHour, 100 * kMiB, Cause::kTime).written_in = 5 * kMinute;
    const WhatIfTable table = log.Ask();
    const WhatIfSize* present = RowOf(table, kGiB);
    ASSERT_NE(present, nullptr);
    EXPECT_NEAR(present->timed_per_hour, 1, 0.1);
    EXPECT_NEAR(static_cast<double>(present->wal_per_hour), 100.0 * kMiB, kMiB);
}

TEST(WhatIfTable, CheckpointsByCommandStay) {
    Log log;
    for (int i = 0; i < 60; ++i) log.Add(kMinute, 10 * kMiB, Cause::kRequest);
    const WhatIfTable table = log.Ask();
    const WhatIfSize* present = RowOf(table, kGiB);
    ASSERT_NE(present, nullptr);
    EXPECT_EQ(present->forced_per_hour + present->timed_per_hour, 0);
}

TEST(WhatIfTable, CsvIsOneTable) {
    Log log;
    for (int i = 0; i < 120; ++i) log.Add(kMinute, 544 * kMiB, Cause::kWal);
    log.advice.what_if = log.Ask();
    Advice advice;
    advice.servers.push_back(log.advice);
    const std::string csv = AdviceAsCsv(advice);
    const auto commas = [](const std::string& line) {
        bool quoted = false;
        int count = 0;
        for (const char c : line) {
            if (c == '"') quoted = !quoted;
            if (c == ',' && !quoted) ++count;
        }
        return count;
    };
    std::size_t from = 0;
    std::size_t rows = 0;
    const int expected = commas(csv.substr(0, csv.find('\n')));
    for (std::size_t end = csv.find('\n'); end != std::string::npos;
         from = end + 1, end = csv.find('\n', from)) {
        EXPECT_EQ(commas(csv.substr(from, end - from)), expected) << csv.substr(from, end - from);
        ++rows;
    }
    // The heading, and a row for each size: the present one's is the server's own.
    EXPECT_EQ(rows, 1 + log.advice.what_if.sizes.size());
}

TEST(WhatIfTable, TextFitsEightyColumns) {
    Log log;
    for (int i = 0; i < 600; ++i) log.Add(3 * kSecond, 544 * kMiB, Cause::kWal);
    log.advice.recommendation.size = 512 * kGiB;
    log.advice.what_if = log.Ask();
    ASSERT_FALSE(log.advice.what_if.sizes.empty());
    Advice advice;
    advice.servers.push_back(log.advice);
    const std::string text = AdviceAsText(advice, Style(false));
    EXPECT_NE(text.find("too large for"), std::string::npos);
    std::size_t from = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         from = end + 1, end = text.find('\n', from))
        EXPECT_LE(DisplayWidth(text.substr(from, end - from)), 80U) << text.substr(from, end - from);
}

TEST(LogAdvice, AHealthyLogHasNoFindings) {
    Log log;
    for (int i = 0; i < 30; ++i) log.Add(5 * kMinute, 200 * kMiB, Cause::kTime).write_time = 4 * kMinute;
    EXPECT_EQ(log.Findings(), "");
    EXPECT_EQ(log.Findings(true), "");
}

TEST(LogAdvice, ForcedCheckpointsEndSegments) {
    Log log;
    for (int i = 0; i < 60; ++i) log.Add(kMinute, 544 * kMiB, Cause::kWal);
    EXPECT_EQ(log.Findings(), "");
}

TEST(LogAdvice, LongSyncs) {
    Log log;
    for (int i = 0; i < 30; ++i) log.Add(5 * kMinute, 200 * kMiB, Cause::kTime).sync_time = 8 * kSecond;
    log.advice.findings.push_back({Severity::kWarning, "slow_sync", "The longest took 20 s.", ""});
    EXPECT_EQ(log.Findings(), "checkpoint_sync_time ");
    EXPECT_EQ(log.advice.findings[0].severity, Severity::kWarning);
    EXPECT_NE(log.advice.findings[0].message.find("8.0 s on average in 12 checkpoints in the log's last "), std::string::npos);
    EXPECT_NE(log.advice.findings[0].message.find("The longest took 20 s."), std::string::npos);
}

TEST(LogAdvice, CheckpointsLongerThanTheTimeout) {
    Log log;
    for (int i = 0; i < 30; ++i) log.Add(6 * kMinute, 200 * kMiB, Cause::kTime).write_time = 6 * kMinute;
    // Where the timeout is an assumption, nothing can be said against it.
    EXPECT_EQ(log.Findings(), "");
    log.advice.settings.checkpoint_timeout.origin = Origin::kOption;
    EXPECT_EQ(log.Findings(), "checkpoint_timeout ");
}

TEST(LogAdvice, RequestsThatWalDidNotCause) {
    Log log;
    for (int i = 0; i < 30; ++i) log.Add(kMinute, 10 * kMiB, Cause::kRequest);
    EXPECT_EQ(log.Findings(), "requested_checkpoints ");
    EXPECT_NE(log.advice.findings[0].message.find("the last ones every 1:00"), std::string::npos);
    Log few;
    for (int i = 0; i < 30; ++i)
        few.Add(5 * kMinute, 10 * kMiB + i, i % 10 == 0 ? Cause::kRequest : Cause::kTime);
    EXPECT_EQ(few.Findings(), "");
}

TEST(LogAdvice, ACompletionTargetCountsWhenGiven) {
    Log log;
    for (int i = 0; i < 30; ++i) log.Add(5 * kMinute, 200 * kMiB, Cause::kTime);
    log.advice.settings.completion_target.value = 0.5;
    EXPECT_EQ(log.Findings(), "");
    log.advice.settings.completion_target.origin = Origin::kOption;
    EXPECT_EQ(log.Findings(), "checkpoint_completion_target ");
}

}  // namespace
}  // namespace walsizer::cli
