// Settings beside max_wal_size, and max_wal_size itself where an old load still sets it.
#include <algorithm>
#include <cmath>

#include "advice_rules.hpp"
#include "walsizer/sizing.hpp"

namespace walsizer {

namespace {

// PostgreSQL's own default from 14 on; a hair below it is meant to be it.
constexpr double kGoodTarget = 0.9 - 1e-6;
// A longer timeout pays where every cycle repeats many full-page images: half a gigabyte of WAL in each.
constexpr Bytes kHeavyWindow = 512 * kMiB;
constexpr Micros kShortTimeout = 5 * kMinute;
constexpr Micros kLongerTimeout = 15 * kMinute;
// With fewer images than this there is little to save.
constexpr double kSomeImages = 0.2;

// After this many quiet windows the checkpointer's estimate of what to recycle has fallen to a quarter: it
// loses a tenth with each checkpoint (xlog.c:UpdateCheckPointDistanceEstimate()).
constexpr std::uint32_t kForgottenAfter = 12;
constexpr Bytes kBigBurst = kGiB;  // of less, new segments are made in no time
constexpr int kBursts = 2;         // one alone may not come again
constexpr int kQuietShare = 8;     // a quiet window has less than an eighth of the burst's WAL
constexpr int kSmallShare = 4;     // min_wal_size below a quarter of a burst makes most of its segments anew

// "26:15:00", and "9.2 days" where hours would have to be counted.
ShortText LongTimeText(Micros time) noexcept {
    constexpr Micros kDay = 24 * kHour;
    ShortText text;
    if (time < 2 * kDay) return ClockText(time);
    return text.Set("%.1f days", static_cast<double>(time) / static_cast<double>(kDay));
}

// A load that comes back within a week and a day is no one-off.
constexpr Micros kOneOffAfter = 8 * 24 * kHour;
// The server may have been down for a twentieth of it.
constexpr double kWatched = 0.95;
// Raises further apart than this belong to different loads.
constexpr Micros kSameLoad = kHour;
// What a smaller value would save must be worth a change.
constexpr Bytes kWorthShrinking = 512 * kMiB;

}  // namespace

void AdviseCompletionTarget(const AdviceFacts& facts, Findings& findings) noexcept {
    const double target = facts.server.completion_target;
    if (target >= kGoodTarget) return;
    ServerSettings better = facts.server;
    better.completion_target = 0.9;
    Finding& row = findings.Add(Severity::kNotice, "checkpoint_completion_target");
    row.finding.Set(
        "each checkpoint's writes are pressed into %.0f %% of the time until the next one; spread out, they "
        "disturb less. The trigger falls a little with it, and walsizer makes up for that",
        100 * target);
    row.evidence.Set("checkpoint_completion_target is %g; at 0.9 the trigger is %s instead of %s", target,
                     SizeText(TriggerSize(better.max_wal_size, better)).c_str(),
                     SizeText(TriggerSize(facts.server.max_wal_size, facts.server)).c_str());
    row.statement.Set("ALTER SYSTEM SET checkpoint_completion_target = 0.9");
}

void AdviseLogCheckpoints(const AdviceFacts& facts, Findings& findings) noexcept {
    if (facts.log_checkpoints.value_or(true)) return;
    Finding& row = findings.Add(Severity::kInfo, "log_checkpoints");
    row.finding.Set("the server log does not tell what started a checkpoint and how long its phases took");
    row.evidence.Set("log_checkpoints is off");
    row.statement.Set("ALTER SYSTEM SET log_checkpoints = on");
}

void AdviseCheckpointTimeout(const AdviceFacts& facts, Findings& findings) noexcept {
    // A standby writes no images: its restartpoints follow the primary's checkpoints.
    if (facts.in_recovery) return;
    const Activity& lately = facts.lately;
    if (facts.server.checkpoint_timeout > kShortTimeout || lately.windows < kRecentWindows) return;
    // Just changed: those windows had another length.
    const Micros all = lately.windows * facts.server.checkpoint_timeout;
    if (lately.measures.length < all / 10 * 9 || lately.measures.length > all / 10 * 12) return;
    // Where WAL forces checkpoints, or would soon, the timer is not what makes them frequent.
    if (lately.least_wal < kHeavyWindow || lately.measures.checkpoints.wal_forced > 0) return;
    if (facts.need && facts.ceiling && *facts.need * 3 / 2 > *facts.ceiling) return;
    const double images = lately.measures.FpiShare();
    // Not known: one long statement, a bulk load for example, whose figures arrive when it ends.
    if (images < kSomeImages) return;
    Finding& row = findings.Add(Severity::kNotice, "checkpoint_timeout");
    row.finding.Set(
        "every cycle is write-heavy: rarer checkpoints would write hot pages and their full-page images less "
        "often. "
        "The need of max_wal_size and the time of a crash recovery grow with it; walsizer's ceilings hold");
    row.evidence.Set("each of the last %u windows of %s saw %s to %s of WAL", lately.windows,
                     ClockText(facts.server.checkpoint_timeout).c_str(), SizeText(lately.least_wal).c_str(),
                     SizeText(lately.most_wal).c_str());
    row.evidence.Append(", %s%.0f %% of it full-page images", facts.fpi_bytes_exact ? "" : "up to ",
                        100 * images);
    row.statement.Set("ALTER SYSTEM SET checkpoint_timeout = '%lldmin'",
                      static_cast<long long>(kLongerTimeout / kMinute));
}

void AdviseMinAboveMax(const AdviceFacts& facts, Findings& findings) noexcept {
    if (!facts.min_wal_size || *facts.min_wal_size <= facts.server.max_wal_size) return;
    Finding& row = findings.Add(Severity::kNotice, "min_wal_size");
    row.finding.Set(
        "PostgreSQL accepts min_wal_size above max_wal_size without a word; pg_wal then keeps more segments "
        "than "
        "any checkpoint cycle may use");
    row.evidence.Set("min_wal_size is %s, max_wal_size %s", SizeText(*facts.min_wal_size).c_str(),
                     SizeText(facts.server.max_wal_size).c_str());
    row.statement.Set("ALTER SYSTEM SET min_wal_size = '%s'", SettingText(facts.server.max_wal_size).c_str());
}

void AdviseMinTooSmall(const AdviceFacts& facts, Findings& findings) noexcept {
    if (!facts.min_wal_size || facts.journal == nullptr) return;
    const auto& windows = facts.journal->windows;
    Bytes burst = 0;
    for (std::uint32_t age = 0; age < windows.size(); ++age)
        burst = std::max(burst, windows.Newest(age).wal_bytes);
    if (burst < kBigBurst || *facts.min_wal_size >= burst / kSmallShare) return;
    // From the oldest to the newest: a burst counts when a long quiet lay before it.
    int bursts = 0;
    std::uint32_t quiet = 0;
    Timestamp first = 0;
    for (std::uint32_t age = windows.size(); age-- > 0;) {
        const WindowRecord& window = windows.Newest(age);
        if (window.wal_bytes >= burst / 2 && quiet >= kForgottenAfter) {
            if (bursts++ == 0) first = window.start;
        }
        // Without a checkpoint nothing is removed, and nothing forgotten.
        if (window.wal_bytes >= burst / kQuietShare)
            quiet = 0;
        else if (window.checkpoints.effective() > 0)
            ++quiet;
    }
    if (bursts < kBursts) return;
    const Bytes wanted = std::min(RoundUpToSegments(static_cast<double>(burst), facts.server),
                                  facts.server.max_wal_size / 2 / kMiB * kMiB);
    if (wanted <= *facts.min_wal_size) return;
    Finding& row = findings.Add(Severity::kInfo, "min_wal_size");
    row.finding.Set(
        "between bursts checkpoints remove the segments that the next burst has to create and fill with "
        "zeros again; "
        "a larger min_wal_size keeps them, and their disk space");
    row.evidence.Set(
        "%d bursts of up to %s of WAL in a window, each after %u quiet windows or more, in the last %s; "
        "min_wal_size is %s",
        bursts, SizeText(burst).c_str(), kForgottenAfter, LongTimeText(facts.now - first).c_str(),
        SizeText(*facts.min_wal_size).c_str());
    row.statement.Set("ALTER SYSTEM SET min_wal_size = '%s'", SettingText(wanted).c_str());
}

namespace {

struct Rise {
    bool found = false;
    Timestamp from = 0;
    Timestamp to = 0;
    Bytes old_size = 0;
};

// The last raises that led to the present value.
Rise LastRise(const Journal& journal, Bytes size) noexcept {
    Rise rise;
    for (std::uint32_t age = 0; age < journal.decisions.size(); ++age) {
        const DecisionRecord& decision = journal.decisions.Newest(age);
        if (decision.outcome != Outcome::kEffective || decision.new_size == decision.old_size) continue;
        if (decision.action != Action::kGrow) break;
        if (!rise.found && decision.new_size != size) break;
        if (rise.found && rise.from - decision.decided_at > kSameLoad) break;
        if (!rise.found) rise.to = decision.decided_at;
        rise.found = true;
        rise.from = decision.decided_at;
        rise.old_size = decision.old_size;
    }
    return rise;
}

Bytes MostWal(const WindowRecord& window) noexcept {
    return std::max({window.wal_bytes, window.peak, window.clean_peak});
}

// The load lasted while windows had half of its WAL, without a pause.
Bytes FollowLoad(const Journal& journal, Rise& rise) noexcept {
    Bytes load = 0;
    for (std::uint32_t age = journal.windows.size(); age-- > 0;) {
        const WindowRecord& window = journal.windows.Newest(age);
        if (window.end <= rise.from) continue;
        if (window.start >= rise.to && MostWal(window) < load / 2) break;
        load = std::max(load, MostWal(window));
        rise.to = std::max(rise.to, window.end);
    }
    return load;
}

}  // namespace

void AdviseOneOff(const AdviceFacts& facts, Findings& findings) noexcept {
    if (facts.journal == nullptr || facts.time_text == nullptr) return;
    const Bytes size = facts.server.max_wal_size;
    Rise rise = LastRise(*facts.journal, size);
    if (!rise.found) return;
    const Bytes load = FollowLoad(*facts.journal, rise);
    Bytes peak = 0;
    Micros watched = 0;
    for (std::uint32_t age = 0; age < facts.journal->windows.size(); ++age) {
        const WindowRecord& window = facts.journal->windows.Newest(age);
        if (window.start < rise.to) break;
        peak = std::max(peak, MostWal(window));
        watched += window.length;
    }
    const Micros since = facts.now - rise.to;
    if (since < kOneOffAfter || static_cast<double>(watched) < kWatched * kOneOffAfter) return;
    Bytes need = SizeForDistance(static_cast<double>(peak) * kMeasuredHeadroom, facts.server);
    if (facts.can_shrink) need = std::max(need, rise.old_size);
    if (need > size / 2 || size - need < kWorthShrinking) return;
    Finding& row = findings.Add(Severity::kInfo, "max_wal_size");
    row.finding.Set(
        "a load that has not come back for %lld days still sets max_wal_size: worst-case crash recovery is "
        "longer "
        "than it need be",
        static_cast<long long>(since / (24 * kHour)));
    row.evidence.Set(
        "max_wal_size is %s: grown %s to %s, at up to %s of WAL per window; the need since then is %s",
        SizeText(size).c_str(), facts.time_text(rise.from).c_str(), facts.time_text(rise.to).c_str(),
        SizeText(load).c_str(), SizeText(need).c_str());
    if (facts.can_shrink)
        row.statement.Set("SELECT walsizer.shrink()");
    else
        row.statement.Set("ALTER SYSTEM SET max_wal_size = '%s'", SettingText(need).c_str());
}

}  // namespace walsizer
