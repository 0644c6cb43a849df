// WAL: who asks for checkpoints without it, who keeps it, what fills it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "advice_rules.hpp"

namespace walsizer {

namespace {

// A nightly backup, a restart and a CREATE DATABASE are life; more than these in an hour are a habit.
constexpr std::int64_t kManyRequests = 4;
constexpr double kManyRequestsShare = 0.2;
// Requests that follow each other this evenly come from a schedule.
constexpr std::uint32_t kIntervals = 3;
constexpr double kEven = 0.1;

// A consumer that streams holds a segment or two; so much was held for longer.
constexpr Bytes kManySegments = 8;
// A bound that somebody set is meant so, unless it takes this share of the volume.
constexpr double kMuchOfVolume = 0.2;

// Full-page images above half of WAL; up to 18 whole pages are counted, hole and all, so somewhat above it.
constexpr double kManyImages = 0.5;
constexpr double kManyImagesAtMost = 0.6;
constexpr std::uint32_t kSettledWindows = 3;
// Less WAL is no load: on an idle server nearly all of it is images, and nobody minds.
constexpr Bytes kSomeWal = 256 * kMiB;

// WAL positions that advance without records to show for it: the rest of segments switched early.
constexpr double kPhantomShare = 0.75;
constexpr Bytes kPhantomADay = kGiB;
constexpr Bytes kMuchPhantomADay = 10 * kGiB;
// Switched segments are whole; what else was written in a window shows beyond this share of one.
constexpr double kNearWhole = 0.05;
constexpr Micros kUsualArchiveTimeout = 5 * kMinute;
constexpr Micros kDay = 24 * kHour;

// The even time between the newest requested checkpoints; 0 when they are not even.
Micros EvenInterval(const Journal& journal) noexcept {
    Timestamp later = 0;
    Micros least = 0;
    Micros most = 0;
    std::uint32_t intervals = 0;
    for (std::uint32_t age = 0; age < journal.checkpoints.size() && intervals < kIntervals; ++age) {
        const CheckpointRecord& row = journal.checkpoints.Newest(age);
        if (row.cause != CheckpointCause::kRequest) continue;
        if (later != 0) {
            const Micros interval = later - row.started_at;
            least = intervals == 0 ? interval : std::min(least, interval);
            most = std::max(most, interval);
            ++intervals;
        }
        later = row.started_at;
    }
    const bool even = intervals == kIntervals && least > kSecond &&
                      static_cast<double>(most - least) <= kEven * static_cast<double>(most);
    return even ? (least + most) / 2 : 0;
}

// "standby1" of "replication slot standby1", whoever else is named behind it.
Text<64> NameOfSlot(const char* holder) noexcept {
    static constexpr char kPrefix[] = "replication slot ";
    Text<64> name;
    for (unsigned i = 0; kPrefix[i] != '\0'; ++i)
        if (holder[i] != kPrefix[i]) return name;
    const char* from = holder + sizeof(kPrefix) - 1;
    int length = 0;
    while (from[length] != '\0' && from[length] != ' ') ++length;
    return name.Set("%.*s", length, from);
}

// A bound for slots that invalidates none of them now and leaves half of the free space; 0: there is none. No
// slot keeps more than all of pg_wal, and PostgreSQL rounds the bound down to segments.
Bytes BoundForSlots(const VolumeFacts& volume, const ServerSettings& server) noexcept {
    const Bytes least = std::max(volume.held.bytes, volume.wal_dir_size) + server.segment_size;
    const Bytes most = std::max(volume.held.bytes, volume.wal_dir_size) + volume.free / 2;
    if (most / kGiB * kGiB >= least) return most / kGiB * kGiB;
    return most >= least ? most / kMiB * kMiB : 0;
}

void SuggestForHolder(const VolumeFacts& volume, const ServerSettings& server, Finding& row) noexcept {
    const HeldWal& held = volume.held;
    const Text<64> slot = NameOfSlot(held.name.c_str());
    // The oldest WAL is kept by somebody with a bound, and somebody without one is named behind.
    const bool two = std::strstr(held.name.c_str(), " and ") != nullptr;
    const Bytes bound = two || held.bounded ? 0 : BoundForSlots(volume, server);
    switch (held.holder) {
        case Holder::kSlot:
            row.finding.Set(
                "a replication slot keeps WAL that its consumer has not fetched, %s: drop it if the consumer "
                "is gone for good%s",
                two            ? "up to max_slot_wal_keep_size, and another holder does so without bound"
                : held.bounded ? "up to max_slot_wal_keep_size"
                               : "until pg_wal's volume is full",
                bound > 0 ? ", else set a bound" : "");
            if (bound > 0)
                row.statement.Set("ALTER SYSTEM SET max_slot_wal_keep_size = '%s'",
                                  SettingText(bound).c_str());
            else
                row.statement.Set("SELECT * FROM pg_replication_slots WHERE slot_name = '%s'", slot.c_str());
            break;
        case Holder::kArchiver:
            row.finding.Set(
                "the archiver lags: WAL stays until it is archived, without bound, until pg_wal's volume "
                "is full");
            row.statement.Set(
                "SELECT * FROM pg_stat_archiver -- last_failed_wal, then the server log, tell why");
            break;
        case Holder::kSummarizer:
            row.finding.Set("the WAL summarizer lags: WAL stays until it is summarized, without bound");
            row.statement.Set("SELECT * FROM pg_get_wal_summarizer_state()");
            break;
        case Holder::kKeepSize:
            if (two) {
                row.finding.Set(
                    "wal_keep_size keeps WAL, and another holder does so without bound, until pg_wal's "
                    "volume "
                    "is full");
                row.statement.Set("none: mend the one that is named last in the evidence");
                break;
            }
            row.finding.Set(
                "wal_keep_size takes a large part of pg_wal's volume; a replication slot keeps only what "
                "a standby lacks");
            row.statement.Set("ALTER SYSTEM SET wal_keep_size = '%s'", SettingText(held.bytes / 2).c_str());
            break;
        case Holder::kNone:
            row.finding.Set("WAL older than the last checkpoint stays, and nobody is known to need it");
            row.statement.Set(
                "none: look for the reason in the server log; .ready files in archive_status keep WAL");
            break;
    }
}

// As many segments as archive_timeout switches in that time, and hardly more.
bool ExplainedByTimeout(const AdviceFacts& facts) noexcept {
    if (facts.archive_timeout.value_or(0) <= 0) return false;
    const Measures& lately = facts.lately.measures;
    const std::int64_t switches = lately.length / *facts.archive_timeout + facts.lately.windows + 1;
    return lately.wal_bytes <= switches * facts.server.segment_size * 5 / 4;
}

// Nearly all of each window's WAL is whole segments.
bool NearWholeSegments(const AdviceFacts& facts) noexcept {
    if (facts.journal == nullptr) return false;
    const auto& windows = facts.journal->windows;
    const auto segment = static_cast<double>(facts.server.segment_size);
    const std::uint32_t count = std::min(windows.size(), kRecentWindows);
    std::uint32_t switched = 0;
    for (std::uint32_t age = 0; age < count; ++age) {
        const double segments = static_cast<double>(windows.Newest(age).wal_bytes) / segment;
        if (std::abs(segments - std::round(segments)) > kNearWhole) return false;
        switched += segments >= 0.5;
    }
    return count == kRecentWindows && switched * 2 > count;
}

}  // namespace

void AdviseRequests(const AdviceFacts& facts, Findings& findings) noexcept {
    // Restartpoints are another matter.
    if (facts.in_recovery) return;
    const CheckpointCounts& counts = facts.lately.measures.checkpoints;
    const std::int64_t requests = counts.requested - counts.wal_forced - counts.stale;
    if (requests < kManyRequests || Ratio(requests, counts.effective()) < kManyRequestsShare) return;
    Finding& row = findings.Add(Severity::kNotice, "requested_checkpoints");
    row.finding.Set(
        "something asks for checkpoints, and no max_wal_size will make them rarer: CHECKPOINT in a job, base "
        "backups, CREATE or DROP DATABASE, restarts");
    row.evidence.Set("%lld of %lld checkpoints %s were requested and not due by WAL",
                     static_cast<long long>(requests), static_cast<long long>(counts.effective()),
                     SpanText(facts).c_str());
    const Micros interval = facts.journal != nullptr ? EvenInterval(*facts.journal) : 0;
    if (interval > 0)
        row.evidence.Append(", the last ones every %s, as from a schedule", ClockText(interval).c_str());
    if (!facts.requesters.empty()) row.evidence.Append("; %s", facts.requesters.c_str());
    row.statement.Set("none: a job that runs CHECKPOINT gains nothing%s",
                      facts.requesters.empty() ? "; pg_stat_statements would name the statement" : "");
}

void AdviseHeldWal(const AdviceFacts& facts, Findings& findings) noexcept {
    const VolumeFacts& volume = facts.volume;
    const HeldWal& held = volume.held;
    if (!volume.known) return;
    if (held.bytes < std::max(kManySegments * facts.server.segment_size, facts.server.max_wal_size)) return;
    const double share = Ratio(held.bytes, volume.size);
    if (held.holder == Holder::kKeepSize && held.bounded && share < kMuchOfVolume) return;
    // Twice as much again, and the volume is full.
    const bool dangerous = !held.bounded && held.bytes * 2 > volume.free;
    Finding& row = findings.Add(dangerous      ? Severity::kWarning
                                : held.bounded ? Severity::kInfo
                                               : Severity::kNotice,
                                "wal_held");
    row.evidence.Set("%s of WAL held%s%s; pg_wal's volume has %s free", SizeText(held.bytes).c_str(),
                     held.name.empty() ? "" : " by ", held.name.c_str(), SizeText(volume.free).c_str());
    SuggestForHolder(volume, facts.server, row);
}

void AdviseFullPageImages(const AdviceFacts& facts, Findings& findings) noexcept {
    const Measures& settled = facts.settled.measures;
    const double share = settled.FpiShare();
    const double many = facts.fpi_bytes_exact ? kManyImages : kManyImagesAtMost;
    if (facts.wal_compression.value_or(true) || facts.settled.windows < kSettledWindows) return;
    if (settled.wal_bytes < kSomeWal || share <= many) return;
    Finding& row = findings.Add(Severity::kNotice, "wal_compression");
    row.finding.Set(
        "most of WAL is full-page images, and they are written uncompressed although no checkpoint is forced "
        "any more");
    row.evidence.Set("full-page images were %s%.0f %% of %s of WAL in %s without forced checkpoints",
                     facts.fpi_bytes_exact ? "" : "up to ", 100 * share, SizeText(settled.wal_bytes).c_str(),
                     ClockText(settled.length).c_str());
    row.statement.Set("ALTER SYSTEM SET wal_compression = %s", facts.has_lz4 ? "'lz4'" : "on");
}

void AdvisePhantomWal(const AdviceFacts& facts, Findings& findings) noexcept {
    if (facts.in_recovery) return;
    const Measures& lately = facts.lately.measures;
    const bool timeout = ExplainedByTimeout(facts);
    const bool known = lately.stat_bytes >= 0;
    const Bytes phantom = known ? lately.wal_bytes - lately.stat_bytes : lately.wal_bytes;
    if (Ratio(phantom, lately.wal_bytes) < kPhantomShare) return;
    // A statement that has been running all that time would look the same, but for its amount.
    if (!(known && timeout) && !NearWholeSegments(facts)) return;
    const double a_day =
        static_cast<double>(phantom) * static_cast<double>(kDay) / static_cast<double>(lately.length);
    if (a_day < static_cast<double>(kPhantomADay) || phantom < 4 * facts.server.segment_size) return;
    Finding& row =
        findings.Add(a_day >= static_cast<double>(kMuchPhantomADay) ? Severity::kNotice : Severity::kInfo,
                     timeout ? "archive_timeout" : "segment_switches");
    row.finding.Set(
        "segments are switched nearly empty, and each counts in full for the archive and towards the next "
        "checkpoint: WAL on paper only");
    if (known)
        row.evidence.Set("WAL advanced by %s %s, with %s of records in it",
                         SizeText(lately.wal_bytes).c_str(), SpanText(facts).c_str(),
                         SizeText(lately.stat_bytes).c_str());
    else
        row.evidence.Set("WAL advanced by %s %s, in whole segments", SizeText(lately.wal_bytes).c_str(),
                         SpanText(facts).c_str());
    row.evidence.Append("; at this rate %s a day", SizeText(static_cast<Bytes>(a_day) / kMiB * kMiB).c_str());
    if (timeout) row.evidence.Append("; archive_timeout is %s", DurationText(*facts.archive_timeout).c_str());
    if (timeout && *facts.archive_timeout < kUsualArchiveTimeout)
        row.statement.Set("ALTER SYSTEM SET archive_timeout = '5min'");
    else
        row.statement.Set(
            "none: let pg_receivewal or a standby stream WAL instead of switching segments early");
}

}  // namespace walsizer
