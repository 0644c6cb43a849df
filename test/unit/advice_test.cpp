// Each rule of advice(): what makes it speak, and what at the boundary leaves it silent. Every test starts
// from a healthy server and changes what it is about.
#include "walsizer/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "rig.hpp"

namespace walsizer::test {
namespace {

constexpr Micros kTimeout = 5 * kMinute;
constexpr Micros kDay = 24 * kHour;

ShortText DaysText(Timestamp at) noexcept {
    ShortText text;
    return text.Set("day %.2f", static_cast<double>(at - kWallAtStart) / kDay);
}

class Advice : public testing::Test {
  protected:
    // Write-light OLTP in its twelfth window and later: 100 MB a window, one timed checkpoint each, every
    // figure known.
    Advice() {
        facts.log_checkpoints = true;
        facts.min_wal_size = 80 * kMiB;
        facts.shared_buffers = 4 * kGiB;
        facts.memory = 16 * kGiB;
        facts.bgwriter_lru_maxpages = 100;
        facts.bgwriter_delay = 200 * kMillisecond;
        facts.checkpoint_flush_after = 256 * kKiB;
        facts.wal_compression = false;
        facts.has_lz4 = true;
        facts.archive_timeout = 0;
        facts.backend_writes_exact = facts.backend_fsyncs_exact = facts.fpi_bytes_exact = true;
        facts.volume = {true, 100 * kGiB, 60 * kGiB, kGiB, {}};
        facts.need = kGiB;
        facts.ceiling = 16 * kGiB;
        facts.can_shrink = true;
        facts.time_text = DaysText;
        facts.journal = &rig.journal;
        Windows(12, Usual());
    }

    static WindowRecord Usual() {
        WindowRecord window;
        window.length = window.timeout = kTimeout;
        window.checkpoints = {1, 0, 0, 0};
        window.wal_bytes = window.peak = window.clean_peak = window.stat_bytes = 100 * kMiB;
        window.fpi_bytes = 30 * kMiB;
        window.xids = 20000;
        window.write_time = 269'000;
        window.sync_time = 100;
        window.buffers_written = 20000;
        window.completed = 1;
        window.clean = 500;
        window.maxwritten = 0;
        window.backend = 100;
        window.backend_fsync = 0;
        window.max_wal_size = kGiB;
        return window;
    }

    // So many of these follow what there is; the clock moves on.
    void Windows(int count, WindowRecord window) {
        for (int i = 0; i < count; ++i) {
            window.start = facts.now == 0 ? kWallAtStart : facts.now;
            facts.now = window.end = window.start + window.length;
            rig.journal.windows.Push(window);
        }
    }
    void Raise(Bytes from, Bytes to) {
        DecisionRecord decision;
        decision.decided_at = facts.now;
        decision.action = Action::kGrow;
        decision.old_size = from;
        decision.new_size = to;
        decision.outcome = Outcome::kEffective;
        rig.journal.decisions.Push(decision);
        facts.server.max_wal_size = to;
    }

    const Findings& Advised() {
        findings = Findings();
        FillActivity(rig.journal, nullptr, facts);
        Advise(facts, findings);
        return findings;
    }
    // The topics of all findings, with their severities: "warning wal_held, info log_checkpoints".
    std::string Topics() {
        std::string topics;
        for (unsigned i = 0; i < Advised().count; ++i) {
            if (i > 0) topics += ", ";
            topics += std::string(Name(findings.rows[i].severity)) + " " + findings.rows[i].topic;
        }
        return topics;
    }
    std::string Evidence() { return Advised().rows[0].evidence.c_str(); }
    std::string Statement() { return Advised().rows[0].statement.c_str(); }

    Rig rig;
    AdviceFacts facts;
    Findings findings;
};

TEST_F(Advice, AHealthyServerHearsNothing) {
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, WhoKnowsNothingSaysNothing) {
    AdviceFacts nothing;
    Advise(nothing, findings);
    EXPECT_EQ(findings.count, 0U);
}

TEST_F(Advice, TheWorstComesFirst) {
    facts.log_checkpoints = false;
    facts.server.completion_target = 0.5;
    facts.storage.Set("Amazon Aurora");
    EXPECT_EQ(Topics(), "warning storage, notice checkpoint_completion_target, info log_checkpoints");
}

TEST_F(Advice, CompletionTargetBelowThePresentDefault) {
    facts.server.completion_target = 0.9;
    EXPECT_EQ(Topics(), "");
    facts.server.completion_target = 0.89;
    EXPECT_EQ(Topics(), "notice checkpoint_completion_target");
    facts.server.completion_target = 0.5;
    EXPECT_EQ(Evidence(),
              "checkpoint_completion_target is 0.5; at 0.9 the trigger is 528 MB instead of 672 MB");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET checkpoint_completion_target = 0.9");
}

TEST_F(Advice, LogCheckpointsOff) {
    facts.log_checkpoints = false;
    EXPECT_EQ(Topics(), "info log_checkpoints");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET log_checkpoints = on");
}

TEST_F(Advice, AShortTimeoutWhereEveryCycleIsHeavy) {
    WindowRecord heavy = Usual();
    heavy.wal_bytes = heavy.stat_bytes = 512 * kMiB;
    heavy.fpi_bytes = 200 * kMiB;
    Windows(11, heavy);
    EXPECT_EQ(Topics(), "");  // one of the last twelve is light
    Windows(1, heavy);
    EXPECT_EQ(Topics(), "notice checkpoint_timeout");
    EXPECT_EQ(Evidence(),
              "each of the last 12 windows of 5:00 saw 512 MB to 512 MB of WAL, 39 % of it full-page images");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET checkpoint_timeout = '15min'");
    facts.server.checkpoint_timeout = 6 * kMinute;
    EXPECT_EQ(Topics(), "");
    facts.server.checkpoint_timeout = kTimeout;
    facts.need = 11 * kGiB;  // three times that is beyond the ceiling, even half as much again
    EXPECT_EQ(Topics(), "");
    facts.need = kGiB;
    heavy.fpi_bytes = 100 * kMiB;  // few images: rarer checkpoints would save little
    Windows(12, heavy);
    EXPECT_EQ(Topics(), "");
}

// Half-hour windows with as much WAL say nothing about the five minutes that were set just now.
TEST_F(Advice, WindowsOfAnotherTimeoutAreNoSignOfThisOne) {
    WindowRecord heavy = Usual();
    heavy.length = heavy.timeout = 30 * kMinute;
    heavy.wal_bytes = heavy.stat_bytes = kGiB;
    heavy.fpi_bytes = 400 * kMiB;
    Windows(12, heavy);
    EXPECT_EQ(Topics(), "");
    heavy.length = heavy.timeout = kTimeout;
    Windows(12, heavy);
    EXPECT_EQ(Topics(), "notice checkpoint_timeout");
}

// One COPY that runs for an hour: images are not known, and there are none.
TEST_F(Advice, AHugeCopyWantsNoLongerTimeout) {
    WindowRecord copy = Usual();
    copy.wal_bytes = 2 * kGiB + 7 * kMiB;
    copy.stat_bytes = kMiB;
    copy.fpi_bytes = 0;
    Windows(13, copy);
    EXPECT_EQ(Topics(), "");
    copy.stat_bytes = copy.fpi_bytes = -1;
    Windows(13, copy);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, AStandbyIsNotToldAboutThePrimarysImages) {
    WindowRecord heavy = Usual();
    heavy.wal_bytes = heavy.stat_bytes = kGiB;
    heavy.fpi_bytes = 400 * kMiB;
    heavy.in_recovery = facts.in_recovery = true;
    Windows(12, heavy);
    EXPECT_EQ(Topics(), "");
}

// What has just begun is light in any case.
TEST_F(Advice, AnOpenWindowCountsInTheSumsOnly) {
    WindowRecord heavy = Usual();
    heavy.wal_bytes = heavy.stat_bytes = 512 * kMiB;
    heavy.fpi_bytes = 200 * kMiB;
    Windows(12, heavy);
    WindowRecord open = Usual();
    open.length = 3 * kSecond;
    open.start = facts.now;
    open.end = facts.now += open.length;
    open.wal_bytes = open.stat_bytes = open.fpi_bytes = 16 * kMiB;
    FillActivity(rig.journal, &open, facts);
    EXPECT_EQ(facts.lately.windows, 12U);
    EXPECT_EQ(facts.lately.least_wal, 512 * kMiB);
    EXPECT_EQ(facts.lately.measures.wal_bytes, 12 * 512 * kMiB + 16 * kMiB);
    EXPECT_EQ(facts.lately.measures.length, kHour + 3 * kSecond);
    Advise(facts, findings);
    ASSERT_EQ(findings.count, 1U);
    EXPECT_STREQ(findings.rows[0].topic, "checkpoint_timeout");
}

// Windows from before a promotion, or before the server stood still for days, are no evidence of today.
TEST_F(Advice, OldWindowsAndThoseOfAStandbyDoNotCount) {
    FillActivity(rig.journal, nullptr, facts);
    EXPECT_EQ(facts.lately.windows, 12U);
    facts.in_recovery = true;
    FillActivity(rig.journal, nullptr, facts);
    EXPECT_EQ(facts.lately.windows, 0U);
    facts.in_recovery = false;
    facts.now += 2 * kDay;
    FillActivity(rig.journal, nullptr, facts);
    EXPECT_EQ(facts.lately.windows, 0U);
}

TEST_F(Advice, AForcedCheckpointIsNotTheTimersFault) {
    WindowRecord heavy = Usual();
    heavy.wal_bytes = heavy.stat_bytes = kGiB;
    heavy.fpi_bytes = 400 * kMiB;
    heavy.checkpoints = {1, 1, 1, 0};
    Windows(12, heavy);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, MinAboveMax) {
    facts.min_wal_size = facts.server.max_wal_size;
    EXPECT_EQ(Topics(), "");
    facts.min_wal_size = 8 * kGiB;
    EXPECT_EQ(Topics(), "notice min_wal_size");
    EXPECT_EQ(Evidence(), "min_wal_size is 8192 MB, max_wal_size 1024 MB");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET min_wal_size = '1GB'");
}

TEST_F(Advice, MinTooSmallForBurstsThatComeAgain) {
    WindowRecord burst = Usual();
    burst.wal_bytes = burst.stat_bytes = 2 * kGiB;
    facts.server.max_wal_size = 6 * kGiB;
    Windows(1, burst);
    Windows(12, Usual());
    EXPECT_EQ(Topics(), "");  // one burst may never come again
    Windows(1, burst);
    EXPECT_EQ(Topics(), "info min_wal_size");
    EXPECT_EQ(Evidence(),
              "2 bursts of up to 2048 MB of WAL in a window, each after 12 quiet windows or more, in the "
              "last 1:10:00; "
              "min_wal_size is 80 MB");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET min_wal_size = '2GB'");
    Windows(static_cast<int>(3 * kDay / kTimeout), Usual());
    EXPECT_NE(Evidence().find("in the last 3.0 days;"), std::string::npos) << Evidence();
    facts.min_wal_size = 512 * kMiB;
    EXPECT_EQ(Topics(), "");
}

// An idle server does not checkpoint, and what was recycled stays.
TEST_F(Advice, BurstsWithNothingInBetweenFindTheirSegmentsAgain) {
    WindowRecord burst = Usual();
    burst.wal_bytes = burst.stat_bytes = 2 * kGiB;
    WindowRecord idle = Usual();
    idle.wal_bytes = idle.stat_bytes = idle.fpi_bytes = 0;
    idle.checkpoints = {};
    idle.completed = 0;
    facts.server.max_wal_size = 6 * kGiB;
    rig.journal.windows.Clear();
    for (int i = 0; i < 3; ++i) {
        Windows(100, idle);
        Windows(1, burst);
    }
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, ALoadThatNeverPausesNeedsNoMinimum) {
    WindowRecord heavy = Usual();
    heavy.wal_bytes = heavy.stat_bytes = 2 * kGiB;
    heavy.fpi_bytes = 0;
    facts.server.max_wal_size = 6 * kGiB;
    Windows(100, heavy);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, StorageThatAppliesWalItself) {
    facts.storage.Set("Amazon Aurora");
    EXPECT_EQ(Topics(), "warning storage");
    EXPECT_EQ(Evidence(), "the server is Amazon Aurora");
}

TEST_F(Advice, ALongSyncPhase) {
    WindowRecord slow = Usual();
    slow.write_time = 200'000;
    slow.sync_time = 4'990;
    Windows(12, slow);
    EXPECT_EQ(Topics(), "");
    slow.sync_time = 5'010;
    Windows(12, slow);
    EXPECT_EQ(Topics(), "notice checkpoint_sync_time");
    EXPECT_EQ(
        Evidence(),
        "the sync phase took 5.0 s on average in 12 checkpoints in the last 1:00:00 (write phase 200 s)");
    EXPECT_EQ(Statement(), "none: look at the data directory's device (iostat -x while a checkpoint syncs)");
    facts.checkpoint_flush_after = 0;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET checkpoint_flush_after = '256kB'");
    slow.sync_time = 30'100;  // more than a tenth of the timeout: pacing has left no more
    Windows(12, slow);
    EXPECT_EQ(Topics(), "warning checkpoint_sync_time");
}

TEST_F(Advice, ACheckpointLongerThanTheTimeout) {
    WindowRecord slow = Usual();
    slow.write_time = 299'000;
    slow.sync_time = 1'000;
    Windows(12, slow);
    EXPECT_EQ(Topics(), "");
    slow.write_time = 379'000;
    Windows(12, slow);
    EXPECT_EQ(Topics(), "warning checkpoint_timeout");
    EXPECT_EQ(Evidence(),
              "6:20 on average (write 379 s, sync 1.0 s) in 12 checkpoints in the last 1:00:00; "
              "checkpoint_timeout is 5:00");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET checkpoint_timeout = '10min'");
}

// What has started and not ended has not taken any time yet; what had started before the span has.
TEST_F(Advice, TheTimeOfCheckpointsIsThatOfThoseThatEnded) {
    rig.journal.windows.Clear();
    WindowRecord slow = Usual();
    slow.write_time = 310'000;
    Windows(1, slow);
    slow.completed = 2;
    slow.write_time = 620'000;
    slow.checkpoints = {3, 0, 0, 0};
    Windows(1, slow);
    EXPECT_EQ(Topics(), "warning checkpoint_timeout");
    EXPECT_NE(Evidence().find("5:10 on average (write 310 s, sync 0.1 s) in 3 checkpoints"),
              std::string::npos)
        << Evidence();

    rig.journal.windows.Clear();
    WindowRecord paced = Usual();  // nine tenths of the timeout each, one of them begun before
    paced.completed = 3;
    paced.checkpoints = {2, 0, 0, 0};
    paced.write_time = 3 * 270'000;
    Windows(1, paced);
    EXPECT_EQ(Topics(), "");
    paced.completed = -1;  // a history that does not tell
    paced.write_time = 3e9;
    Windows(1, paced);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, BackendsThatWriteTheirOwnBuffers) {
    WindowRecord window = Usual();
    window.backend = 5100;  // a fifth of 25,600 but for some
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
    window.backend = 6000;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice shared_buffers");
    EXPECT_EQ(Evidence(),
              "backends wrote 72000 buffers in the last 1:00:00, 23 % of all (checkpoints 240000, background "
              "writer 6000)");
    EXPECT_EQ(Statement(),
              "none: shared_buffers is 4096 MB of 16.0 GB of memory already; the working set needs a larger "
              "machine");
    facts.shared_buffers = 2 * kGiB;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET shared_buffers = '4GB' -- needs a restart");
    facts.bgwriter_lru_maxpages = 0;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET bgwriter_lru_maxpages = 100");
}

// Up to 15 the count contains a bulk load's new pages, while the background writer has nothing to do.
TEST_F(Advice, ABulkLoadIsNoShortageOfBuffers) {
    WindowRecord load = Usual();
    load.backend = 50000;
    load.clean = 0;
    facts.backend_writes_exact = false;
    Windows(12, load);
    EXPECT_EQ(Topics(), "");
    load.clean = 4900;
    Windows(12, load);
    EXPECT_EQ(Topics(), "");
    load.clean = 5000;
    Windows(12, load);
    EXPECT_EQ(Topics(), "notice shared_buffers");
    load.clean = 0;
    load.maxwritten = 150;
    Windows(12, load);
    EXPECT_EQ(Topics(), "notice shared_buffers, notice bgwriter_lru_maxpages");
    EXPECT_NE(Evidence().find("; new pages and bulk loads are part of it"), std::string::npos);
}

TEST_F(Advice, FewBuffersAreNotWorthAWord) {
    WindowRecord idle = Usual();
    idle.buffers_written = 10;
    idle.backend = 680;
    Windows(12, idle);
    EXPECT_EQ(Topics(), "");
    idle.backend = 690;
    Windows(12, idle);
    EXPECT_EQ(Topics(), "notice shared_buffers");
}

TEST_F(Advice, BackendsThatFsync) {
    WindowRecord window = Usual();
    window.backend_fsync = 9;
    Windows(1, window);
    EXPECT_EQ(Topics(), "");
    window.backend_fsync = 1;
    Windows(1, window);
    EXPECT_EQ(Topics(), "warning backend_fsync");
    EXPECT_EQ(Evidence(), "10 fsyncs by backends in the last 1:00:00");
    facts.backend_fsyncs_exact = false;  // a few come with CREATE INDEX
    EXPECT_EQ(Topics(), "");
    window.backend_fsync = 1000;
    Windows(1, window);
    EXPECT_EQ(Topics(), "warning backend_fsync");
    facts.wal_minimal = true;  // each table that is created and filled in one transaction
    EXPECT_EQ(Topics(), "");
    facts.backend_fsyncs_exact = true;
    EXPECT_EQ(Topics(), "warning backend_fsync");
}

TEST_F(Advice, ABackgroundWriterThatStopsAtItsLimit) {
    WindowRecord window = Usual();
    window.maxwritten = 149;  // of 1500 rounds
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
    window.maxwritten = 150;
    Windows(12, window);
    EXPECT_EQ(Topics(), "info bgwriter_lru_maxpages");
    EXPECT_EQ(
        Evidence(),
        "it stopped at bgwriter_lru_maxpages (100) in 1800 of at most 18000 rounds in the last 1:00:00");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET bgwriter_lru_maxpages = 400");
    window.backend = 6000;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice shared_buffers, notice bgwriter_lru_maxpages");
    facts.bgwriter_lru_maxpages = 1000;
    EXPECT_STREQ(Advised().rows[1].statement.c_str(), "ALTER SYSTEM SET bgwriter_delay = '100ms'");
    window.maxwritten = 3000;
    Windows(12, window);
    facts.bgwriter_lru_maxpages = 1'073'741'823;
    facts.bgwriter_delay = 15 * kMillisecond;
    EXPECT_STREQ(Advised().rows[1].statement.c_str(), "ALTER SYSTEM SET bgwriter_delay = '10ms'");
    facts.bgwriter_delay = 10 * kMillisecond;
    EXPECT_EQ(std::string(Advised().rows[1].statement.c_str()).substr(0, 5), "none:");
}

TEST_F(Advice, FullPageImagesAboveHalfUncompressed) {
    WindowRecord window = Usual();
    window.fpi_bytes = 50 * kMiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
    window.fpi_bytes = 52 * kMiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice wal_compression");
    EXPECT_EQ(Evidence(),
              "full-page images were 52 % of 1200 MB of WAL in 1:00:00 without forced checkpoints");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET wal_compression = 'lz4'");
    facts.has_lz4 = false;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET wal_compression = on");
    facts.wal_compression = true;
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, AnUpperBoundOfImagesNeedsMore) {
    WindowRecord window = Usual();
    window.fpi_bytes = 60 * kMiB;
    facts.fpi_bytes_exact = false;
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
    window.fpi_bytes = 62 * kMiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice wal_compression");
    EXPECT_NE(Evidence().find("were up to 62 % of"), std::string::npos);
}

// First come rarer checkpoints: images of forced ones, and those before the last raise, say nothing.
TEST_F(Advice, ImagesUnderForcedCheckpointsAreNotTheCompressionsFault) {
    WindowRecord window = Usual();
    window.fpi_bytes = 90 * kMiB;
    window.checkpoints = {0, 5, 5, 0};
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
    window.checkpoints = {1, 0, 0, 0};
    Windows(12, window);
    Raise(kGiB, 2 * kGiB);
    EXPECT_EQ(Topics(), "");
    Windows(2, window);
    EXPECT_EQ(Topics(), "");
    Windows(1, window);
    EXPECT_EQ(Topics(), "notice wal_compression");
}

TEST_F(Advice, ImagesOfAnIdleServerDoNotMatter) {
    WindowRecord window = Usual();
    window.wal_bytes = window.stat_bytes = 20 * kMiB;
    window.fpi_bytes = 19 * kMiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, CheckpointsThatSomethingAsksFor) {
    WindowRecord window = Usual();
    window.checkpoints = {1, 3, 0, 0};
    Windows(1, window);
    EXPECT_EQ(Topics(), "");
    window.checkpoints = {1, 1, 0, 0};
    Windows(1, window);
    EXPECT_EQ(Topics(), "notice requested_checkpoints");
    EXPECT_EQ(Evidence(), "4 of 16 checkpoints in the last 1:00:00 were requested and not due by WAL");
    facts.requesters.Set("pg_stat_statements counts 4 CHECKPOINT");
    EXPECT_NE(Evidence().find("; pg_stat_statements counts 4 CHECKPOINT"), std::string::npos);
    facts.in_recovery = true;
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, ForcedAndStaleCheckpointsWereCausedByWal) {
    WindowRecord window = Usual();
    window.checkpoints = {0, 8, 5, 3};
    Windows(2, window);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, EvenRequestsComeFromASchedule) {
    WindowRecord window = Usual();
    window.checkpoints = {1, 1, 0, 0};
    Windows(6, window);
    for (int i = 0; i < 4; ++i) {
        CheckpointRecord row;
        row.cause = CheckpointCause::kRequest;
        row.count = 1;
        row.started_at = facts.now + i * kTimeout;
        rig.journal.checkpoints.Push(row);
        CheckpointRecord timed = row;
        timed.cause = CheckpointCause::kTime;
        rig.journal.checkpoints.Push(timed);
    }
    EXPECT_NE(Evidence().find(", the last ones every 5:00, as from a schedule"), std::string::npos)
        << Evidence();
    rig.journal.checkpoints.Newest(1).started_at += kMinute;
    EXPECT_EQ(Evidence().find("schedule"), std::string::npos);
}

TEST_F(Advice, ASlotThatKeepsWal) {
    HeldWal& held = facts.volume.held;
    held.bytes = kGiB - 1;
    held.holder = Holder::kSlot;
    held.bounded = false;
    held.name.Set("replication slot standby1");
    EXPECT_EQ(Topics(), "");
    held.bytes = 2 * kGiB;
    EXPECT_EQ(Topics(), "notice wal_held");
    EXPECT_EQ(Evidence(),
              "2048 MB of WAL held by replication slot standby1; pg_wal's volume has 60.0 GB free");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET max_slot_wal_keep_size = '32GB'");
    held.bytes = 31 * kGiB;
    EXPECT_EQ(Topics(), "warning wal_held");
    held.bounded = true;
    EXPECT_EQ(Topics(), "info wal_held");
    EXPECT_EQ(Statement(), "SELECT * FROM pg_replication_slots WHERE slot_name = 'standby1'");
}

// A bound below what the slot keeps now would take its WAL away at once.
TEST_F(Advice, ABoundNeverTakesAwayWhatASlotKeepsNow) {
    HeldWal& held = facts.volume.held;
    held = {3 * kGiB + 700 * kMiB, Holder::kSlot, false, {}};
    held.name.Set("replication slot standby1");
    facts.volume.wal_dir_size = 4 * kGiB + 200 * kMiB;
    facts.volume.free = 400 * kMiB;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET max_slot_wal_keep_size = '4496MB'");
    facts.volume.free = 20 * kMiB;  // no room for any bound
    EXPECT_EQ(Statement(), "SELECT * FROM pg_replication_slots WHERE slot_name = 'standby1'");
    EXPECT_EQ(Advised().rows[0].finding.c_str(),
              std::string("a replication slot keeps WAL that its consumer has not fetched, until pg_wal's "
                          "volume is full: drop it if the consumer is gone for good"));
}

// The oldest WAL is kept within a bound, more of it without one.
TEST_F(Advice, AnUnboundedHolderBesideABoundedOne) {
    HeldWal& held = facts.volume.held;
    held = {2 * kGiB, Holder::kSlot, false, {}};
    held.name.Set("replication slot standby1 and archiver (130 segments not archived, oldest 1)");
    EXPECT_EQ(Topics(), "notice wal_held");
    EXPECT_EQ(Statement(), "SELECT * FROM pg_replication_slots WHERE slot_name = 'standby1'");
    EXPECT_NE(std::string(Advised().rows[0].finding.c_str()).find("another holder does so without bound"),
              std::string::npos);
    held.holder = Holder::kKeepSize;
    held.name.Set("wal_keep_size and replication slot standby1");
    EXPECT_EQ(Topics(), "notice wal_held");
    EXPECT_EQ(Statement(), "none: mend the one that is named last in the evidence");
}

TEST_F(Advice, EightSegmentsAreNeverMuch) {
    facts.server.max_wal_size = 64 * kMiB;
    facts.min_wal_size = 32 * kMiB;
    HeldWal& held = facts.volume.held;
    held.holder = Holder::kArchiver;
    held.bounded = false;
    held.name.Set("archiver (8 segments not archived, oldest 000000010000000000000007)");
    held.bytes = 128 * kMiB - 1;
    EXPECT_EQ(Topics(), "");
    held.bytes = 128 * kMiB;
    EXPECT_EQ(Topics(), "notice wal_held");
    EXPECT_NE(Statement().find("pg_stat_archiver"), std::string::npos);
    held.holder = Holder::kSummarizer;
    EXPECT_NE(Statement().find("pg_get_wal_summarizer_state"), std::string::npos);
}

TEST_F(Advice, WhatSomebodySetAsideIsMeantSoUnlessItIsVeryMuch) {
    HeldWal& held = facts.volume.held;
    held.holder = Holder::kKeepSize;
    held.name.Set("wal_keep_size");
    held.bytes = 19 * kGiB;
    EXPECT_EQ(Topics(), "");
    held.bytes = 20 * kGiB;
    EXPECT_EQ(Topics(), "info wal_held");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET wal_keep_size = '10GB'");
}

TEST_F(Advice, SegmentsSwitchedNearlyEmpty) {
    WindowRecord window = Usual();
    window.wal_bytes = 80 * kMiB;  // one a minute
    window.stat_bytes = window.fpi_bytes = kMiB;
    facts.archive_timeout = kMinute;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice archive_timeout");
    EXPECT_EQ(Evidence(),
              "WAL advanced by 960 MB in the last 1:00:00, with 12 MB of records in it; at this rate 22.2 GB "
              "a day; "
              "archive_timeout is 60 s");
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET archive_timeout = '5min'");
    window.stat_bytes = 21 * kMiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, WithoutATimeoutSomebodySwitches) {
    WindowRecord window = Usual();
    window.wal_bytes = 16 * kMiB;
    window.stat_bytes = window.fpi_bytes = 100 * kKiB;
    Windows(12, window);
    EXPECT_EQ(Topics(), "info segment_switches");
    EXPECT_EQ(Statement().substr(0, 5), "none:");
    Windows(1, Usual());
    EXPECT_EQ(Topics(), "");
}

// One COPY that runs for some windows: its WAL is in no statistics yet.
TEST_F(Advice, ALongStatementIsNoPhantom) {
    WindowRecord window = Usual();
    window.wal_bytes = kGiB;
    window.stat_bytes = window.fpi_bytes = 0;
    facts.archive_timeout = kMinute;
    rig.journal.windows.Clear();
    Windows(3, window);
    EXPECT_EQ(Topics(), "");
    facts.archive_timeout = 0;
    window.wal_bytes = kGiB + 7 * kMiB;
    Windows(30, window);
    EXPECT_EQ(Topics(), "");
}

TEST_F(Advice, WithoutStatisticsWholeSegmentsTell) {
    WindowRecord window = Usual();
    window.wal_bytes = 80 * kMiB + 100 * kKiB;
    window.stat_bytes = window.fpi_bytes = -1;
    facts.archive_timeout = kMinute;
    Windows(12, window);
    EXPECT_EQ(Topics(), "notice archive_timeout");
    window.wal_bytes = 82 * kMiB;
    Windows(1, window);
    EXPECT_EQ(Topics(), "");
}

// The last raise met a load of an afternoon; eight days later it has not come back.
class OneOff : public Advice {
  protected:
    OneOff() {
        WindowRecord load = Usual();
        load.wal_bytes = load.peak = load.clean_peak = load.stat_bytes = 4 * kGiB;
        load.fpi_bytes = 0;
        Raise(kGiB, 4 * kGiB);
        Windows(1, load);
        Raise(4 * kGiB, 8 * kGiB);
        Windows(24, load);
        quiet_since = facts.now;
        facts.min_wal_size = kGiB;  // the load's segments are another rule's matter
    }
    void Quiet(Micros duration) {
        WindowRecord usual = Usual();
        usual.wal_bytes = usual.peak = usual.clean_peak = usual.stat_bytes = 600 * kMiB;
        Windows(static_cast<int>(duration / kTimeout), usual);
        facts.now = rig.journal.windows.Newest(0).end;
    }
    Timestamp quiet_since = 0;
};

TEST_F(OneOff, IsToldAfterEightDays) {
    facts.server.checkpoint_timeout = 6 * kMinute;  // keeps another rule out
    Quiet(8 * kDay - kTimeout);
    EXPECT_EQ(Topics(), "");
    Quiet(kTimeout);
    EXPECT_EQ(Topics(), "info max_wal_size");
    EXPECT_EQ(Evidence(),
              "max_wal_size is 8192 MB: grown day 0.04 to day 0.13, at up to 4096 MB of WAL per window; the "
              "need since then is "
              "1248 MB");
    EXPECT_EQ(Statement(), "SELECT walsizer.shrink()");
    facts.can_shrink = false;
    EXPECT_EQ(Statement(), "ALTER SYSTEM SET max_wal_size = '1248MB'");
}

TEST_F(OneOff, IsNeverSaidOfWhatComesBackWithinEightDays) {
    facts.server.checkpoint_timeout = 6 * kMinute;
    WindowRecord load = Usual();
    load.wal_bytes = load.peak = load.stat_bytes = 4 * kGiB;
    load.fpi_bytes = 0;
    for (int week = 0; week < 4; ++week) {
        for (int day = 0; day < 7; ++day) {
            Quiet(kDay);
            EXPECT_EQ(Topics().find("max_wal_size"), std::string::npos) << week << " " << day;
        }
        Windows(10, load);
        EXPECT_EQ(Topics().find("max_wal_size"), std::string::npos) << week;
    }
}

// shrink() never goes below what was there before walsizer.
TEST_F(OneOff, IsNotSaidWhenShrinkingWouldGainLittle) {
    facts.server.checkpoint_timeout = 6 * kMinute;
    Quiet(9 * kDay);
    rig.journal.decisions.Newest(1).old_size = 4 * kGiB;
    EXPECT_EQ(Topics(), "info max_wal_size");
    rig.journal.decisions.Newest(1).old_size = 4 * kGiB + 16 * kMiB;
    EXPECT_EQ(Topics(), "");
}

TEST_F(OneOff, IsNotSaidOfAValueThatSomebodySet) {
    facts.server.checkpoint_timeout = 6 * kMinute;
    Quiet(9 * kDay);
    facts.server.max_wal_size = 7 * kGiB;
    EXPECT_EQ(Topics(), "");
}

TEST_F(OneOff, IsNotSaidOfAServerThatWasDownMostOfTheTime) {
    facts.server.checkpoint_timeout = 6 * kMinute;
    Quiet(2 * kDay);
    facts.now += 6 * kDay;
    Quiet(kDay);
    EXPECT_EQ(Topics(), "");
}

// Words end within 320 characters, whatever the numbers.
TEST_F(Advice, NoTextIsCutOff) {
    facts.server.completion_target = 0.5;
    facts.log_checkpoints = false;
    facts.min_wal_size = 900 * kGiB;
    facts.storage.Set("Amazon Aurora");
    facts.requesters.Set(
        "base backups running now: 12; pg_stat_statements counts 123456 CHECKPOINT, 12345 CREATE DATABASE, "
        "12345 DROP DATABASE, 12345 SELECT PG_BACKUP_START");
    facts.volume.held = {900 * kGiB, Holder::kSlot, false, {}};
    facts.volume.held.name.Set(
        "replication slot a_name_that_is_as_long_as_names_of_slots_may_be_in_postgresql_63 and "
        "archiver (12345 segments not archived)");
    WindowRecord bad = Usual();
    bad.checkpoints = {1000, 1000, 0, 0};
    bad.write_time = 1e9;
    bad.sync_time = 2e8;
    bad.backend = 123456789;
    bad.backend_fsync = 123456789;
    bad.maxwritten = 1500;
    bad.wal_bytes = bad.stat_bytes = 123 * kGiB;
    bad.fpi_bytes = 100 * kGiB;
    Windows(12, bad);
    facts.ceiling = facts.need = std::nullopt;
    EXPECT_GE(Advised().count, 9U) << Topics();
    for (unsigned i = 0; i < findings.count; ++i)
        for (const Reason* text :
             {&findings.rows[i].finding, &findings.rows[i].evidence, &findings.rows[i].statement}) {
            EXPECT_FALSE(text->empty()) << findings.rows[i].topic;
            EXPECT_LT(std::strlen(text->c_str()), sizeof(Reason) - 1) << text->c_str();
        }
}

}  // namespace
}  // namespace walsizer::test
