// Storage, and who writes buffers to it.
#include <algorithm>
#include <cmath>

#include "advice_rules.hpp"

namespace walsizer {

namespace {

// A sync phase of this length is an outage to whoever waits for the same device; a healthy one is far below 1
// s.
constexpr double kLongSync = 5000;  // milliseconds
// Fewer checkpoints are an accident, not a habit.
constexpr std::int64_t kFewCheckpoints = 2;

// Backends that write a fifth of all buffers wait for storage where the checkpointer or the background writer
// should have.
constexpr double kManyBackendWrites = 0.2;
constexpr std::int64_t kFewBuffers = 8192;
// Up to 15 relation extension and bulk loads count as well. A clock sweep that really lacks clean buffers
// makes the background writer work, too.
constexpr double kCorroboration = 0.1;
// One is too many where the count is exact; where it is not, a handful comes with every CREATE INDEX.
constexpr std::int64_t kFewFsyncs = 10;
constexpr std::int64_t kFewInexactFsyncs = 1000;
// The background writer stopped early in a tenth of its rounds.
constexpr double kManyStops = 0.1;
constexpr std::int64_t kFewStops = 10;
constexpr int kMostMaxpages = 1000;
constexpr Micros kLeastDelay = 10 * kMillisecond;  // of bgwriter_delay
// More of a machine's memory in shared_buffers rarely pays.
constexpr double kMostOfMemory = 0.4;

double MeanMilliseconds(double total, std::int64_t count) noexcept {
    return count > 0 ? total / static_cast<double>(count) : 0;
}

Micros FromMilliseconds(double milliseconds) noexcept {
    return static_cast<Micros>(milliseconds * kMillisecond);
}

double BackendShare(const Activity& lately) noexcept {
    if (lately.backend < 0) return -1;
    return Ratio(lately.backend,
                 lately.backend + lately.buffers_written + std::max<std::int64_t>(lately.clean, 0));
}

// At most so many: it sleeps longer while nothing happens.
std::int64_t Rounds(const AdviceFacts& facts) noexcept {
    const Micros delay = facts.bgwriter_delay.value_or(0);
    return delay > 0 ? facts.lately.measures.length / delay : 0;
}

bool StopsOften(const AdviceFacts& facts) noexcept {
    return facts.lately.maxwritten >= kFewStops &&
           Ratio(facts.lately.maxwritten, Rounds(facts)) >= kManyStops;
}

bool BackendsWrite(const AdviceFacts& facts) noexcept {
    const Activity& lately = facts.lately;
    if (lately.backend < kFewBuffers || BackendShare(lately) < kManyBackendWrites) return false;
    if (facts.backend_writes_exact || facts.bgwriter_lru_maxpages == 0) return true;
    return StopsOften(facts) || Ratio(lately.clean, lately.backend) >= kCorroboration;
}

// Twice as much, as far as the machine has it.
void SuggestSharedBuffers(const AdviceFacts& facts, Reason& statement) noexcept {
    const Bytes now = facts.shared_buffers.value_or(0);
    const bool room =
        !facts.memory || static_cast<double>(2 * now) <= kMostOfMemory * static_cast<double>(*facts.memory);
    if (now > 0 && room)
        statement.Set("ALTER SYSTEM SET shared_buffers = '%s' -- needs a restart",
                      SettingText(2 * now).c_str());
    else if (now > 0)
        statement.Set(
            "none: shared_buffers is %s of %s of memory already; the working set needs a larger machine",
            SizeText(now).c_str(), SizeText(*facts.memory).c_str());
    else
        statement.Set("none: raise shared_buffers if the machine has the memory");
}

}  // namespace

void AdviseStorage(const AdviceFacts& facts, Findings& findings) noexcept {
    if (facts.storage.empty()) return;
    Finding& row = findings.Add(Severity::kWarning, "storage");
    row.finding.Set(
        "this storage applies WAL by itself: checkpoints write no data pages here, and max_wal_size "
        "changes neither their cost nor the time of a recovery");
    row.evidence.Set("the server is %s", facts.storage.c_str());
    row.statement.Set("none: leave max_wal_size as the provider set it, and walsizer out of this server");
}

void AdviseLongSync(const AdviceFacts& facts, Findings& findings) noexcept {
    const Activity& lately = facts.lately;
    const std::int64_t count = lately.completed;
    const double mean = MeanMilliseconds(lately.sync_time, count);
    if (count < kFewCheckpoints || mean < kLongSync) return;
    // Pacing leaves this much of the timeout for everything but writing.
    const double left = (1 - facts.server.completion_target) *
                        static_cast<double>(facts.server.checkpoint_timeout) / kMillisecond;
    Finding& row =
        findings.Add(mean >= left ? Severity::kWarning : Severity::kNotice, "checkpoint_sync_time");
    row.finding.Set(
        "storage cannot keep up when checkpoints sync their files. More max_wal_size will not help: it "
        "gathers more "
        "dirty pages for each sync and may lengthen it");
    row.evidence.Set("the sync phase took %s on average in %lld checkpoints %s (write phase %s)",
                     DurationText(FromMilliseconds(mean)).c_str(), static_cast<long long>(count),
                     SpanText(facts).c_str(),
                     DurationText(FromMilliseconds(MeanMilliseconds(lately.write_time, count))).c_str());
    if (facts.checkpoint_flush_after == 0)
        row.statement.Set("ALTER SYSTEM SET checkpoint_flush_after = '256kB'");
    else
        row.statement.Set("none: look at the data directory's device (iostat -x while a checkpoint syncs)");
}

void AdviseLongCheckpoint(const AdviceFacts& facts, Findings& findings) noexcept {
    const Activity& lately = facts.lately;
    const std::int64_t count = lately.completed;
    const Micros timeout = facts.server.checkpoint_timeout;
    const Micros mean = FromMilliseconds(MeanMilliseconds(lately.write_time + lately.sync_time, count));
    if (count < kFewCheckpoints || mean <= timeout) return;
    Finding& row = findings.Add(Severity::kWarning, "checkpoint_timeout");
    row.finding.Set(
        "checkpoints take longer than checkpoint_timeout, so that the next one is late before it begins and "
        "writes "
        "without a pause");
    row.evidence.Set("%s on average (write %s, sync %s) in %lld checkpoints %s; checkpoint_timeout is %s",
                     ClockText(mean).c_str(),
                     DurationText(FromMilliseconds(MeanMilliseconds(lately.write_time, count))).c_str(),
                     DurationText(FromMilliseconds(MeanMilliseconds(lately.sync_time, count))).c_str(),
                     static_cast<long long>(count), SpanText(facts).c_str(), ClockText(timeout).c_str());
    if (lately.sync_time > lately.write_time) {
        row.statement.Set("none: syncing takes most of it, so storage is too slow for these writes");
        return;
    }
    constexpr Micros kStep = 5 * kMinute;
    const Micros better = (mean * 3 / 2 + kStep - 1) / kStep * kStep;
    row.statement.Set("ALTER SYSTEM SET checkpoint_timeout = '%lldmin'",
                      static_cast<long long>(better / kMinute));
}

void AdviseBackendWrites(const AdviceFacts& facts, Findings& findings) noexcept {
    if (!BackendsWrite(facts)) return;
    const Activity& lately = facts.lately;
    Finding& row = findings.Add(Severity::kNotice, "shared_buffers");
    row.finding.Set(
        "statements wait while their backends write dirty buffers to make room. Mend this before more "
        "max_wal_size: "
        "with rarer checkpoints more buffers stay dirty");
    row.evidence.Set(
        "backends wrote %lld buffers %s, %.0f %% of all (checkpoints %lld, background writer %lld)%s",
        static_cast<long long>(lately.backend), SpanText(facts).c_str(), 100 * BackendShare(lately),
        static_cast<long long>(lately.buffers_written),
        static_cast<long long>(std::max<std::int64_t>(lately.clean, 0)),
        facts.backend_writes_exact ? "" : "; new pages and bulk loads are part of it");
    if (facts.bgwriter_lru_maxpages == 0)
        row.statement.Set("ALTER SYSTEM SET bgwriter_lru_maxpages = 100");
    else
        SuggestSharedBuffers(facts, row.statement);
}

void AdviseBackendFsyncs(const AdviceFacts& facts, Findings& findings) noexcept {
    const std::int64_t few = facts.backend_fsyncs_exact ? kFewFsyncs : kFewInexactFsyncs;
    if (facts.lately.backend_fsync < few) return;
    if (facts.wal_minimal && !facts.backend_fsyncs_exact) return;
    Finding& row = findings.Add(Severity::kWarning, "backend_fsync");
    row.finding.Set(
        "backends had to fsync files themselves, in the middle of a statement: the checkpointer's queue of "
        "requests, as "
        "long as shared_buffers has pages, was full");
    row.evidence.Set("%lld fsyncs by backends %s%s", static_cast<long long>(facts.lately.backend_fsync),
                     SpanText(facts).c_str(),
                     facts.backend_fsyncs_exact ? "" : "; those of index builds are part of it");
    SuggestSharedBuffers(facts, row.statement);
}

void AdviseBackgroundWriter(const AdviceFacts& facts, Findings& findings) noexcept {
    const Activity& lately = facts.lately;
    if (!facts.bgwriter_lru_maxpages || !StopsOften(facts)) return;
    // Where backends hardly write, the background writer's limit costs nobody anything.
    const bool matters = BackendsWrite(facts);
    Finding& row = findings.Add(matters ? Severity::kNotice : Severity::kInfo, "bgwriter_lru_maxpages");
    row.finding.Set(matters ? "the background writer stops at its limit while backends write dirty buffers "
                              "themselves; check this before raising max_wal_size"
                            : "the background writer stops at its limit; backends hardly write for now");
    row.evidence.Set("it stopped at bgwriter_lru_maxpages (%d) in %lld of at most %lld rounds %s",
                     *facts.bgwriter_lru_maxpages, static_cast<long long>(lately.maxwritten),
                     static_cast<long long>(Rounds(facts)), SpanText(facts).c_str());
    const Micros delay = facts.bgwriter_delay.value_or(kLeastDelay);
    if (*facts.bgwriter_lru_maxpages < kMostMaxpages)
        row.statement.Set("ALTER SYSTEM SET bgwriter_lru_maxpages = %d",
                          std::min(*facts.bgwriter_lru_maxpages * 4, kMostMaxpages));
    else if (delay > kLeastDelay)
        row.statement.Set("ALTER SYSTEM SET bgwriter_delay = '%lldms'",
                          static_cast<long long>(std::max(delay / 2, kLeastDelay) / kMillisecond));
    else
        row.statement.Set("none: it writes as much as it can; more shared_buffers, or faster storage");
}

}  // namespace walsizer
