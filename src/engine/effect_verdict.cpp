#include "effect_verdict.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer {

namespace {

// Loads whose transactions per second differ more than this are different loads.
constexpr double kAlike = 2;
// WAL per second alone is a weaker sign: repeated full-page images make up to threefold WAL of the same load.
constexpr double kAlikeWal = 4;
// Less WAL per second than this is no load.
constexpr double kIdleRate = 10 * static_cast<double>(kKiB);

bool Within(double a, double b, double factor) noexcept {
    return a > 0 && b > 0 && a <= factor * b && b <= factor * a;
}

double TransactionRate(const Measures& measures) noexcept {
    if (measures.WalPerTransaction() < 0) return -1;
    return static_cast<double>(measures.xids) * kSecond / static_cast<double>(measures.length);
}

// WAL apart from full-page images, which a change of max_wal_size changes; -1 unknown.
double RecordRate(const Measures& measures) noexcept {
    const double share = measures.FpiShare();
    return share < 0 ? -1 : measures.WalRate() * (1 - share);
}

ShortText RateText(double bytes_per_second) noexcept {
    ShortText text;
    const double mb = bytes_per_second / static_cast<double>(kMiB);
    if (mb < 0.1)
        text.Set("%.1f kB/s", bytes_per_second / static_cast<double>(kKiB));
    else
        text.Set(mb < 10 ? "%.1f MB/s" : "%.0f MB/s", mb);
    return text;
}

ShortText PerTransactionText(double bytes) noexcept {
    ShortText text;
    const double kb = bytes / static_cast<double>(kKiB);
    if (bytes < static_cast<double>(kKiB))
        text.Set("%.0f bytes", bytes);
    else if (kb < 1024)
        text.Set(kb < 100 ? "%.1f kB" : "%.0f kB", kb);
    else
        text.Set("%.1f MB", kb / 1024);
    return text;
}

Text<64> CountText(const Measures& measures) noexcept {
    Text<64> text;
    text.Set("%lld in %s", static_cast<long long>(measures.checkpoints.wal_forced),
             ClockText(measures.length).c_str());
    return text;
}

// The change as a person calls it: "the raise", "4 raises in 0:21 (64 MB to 1024 MB)".
Text<96> ChangeText(const VerdictFacts& about) noexcept {
    Text<96> text;
    const bool up = about.last.new_size > about.first.old_size;
    if (about.changes == 1) return text.Set("%s", up ? "the raise" : "the lowering");
    return text.Set("%u %s in %s (%s to %s)", about.changes, about.all_raises ? "raises" : "changes",
                    ClockText(about.last.decided_at - about.first.decided_at).c_str(),
                    SizeText(about.first.old_size).c_str(), SizeText(about.last.new_size).c_str());
}

void TellForced(const Measures& before, const Measures& after, Reason& verdict) noexcept {
    if (before.checkpoints.wal_forced == 0 && after.checkpoints.wal_forced == 0) {
        verdict.Append("no forced checkpoint before or after");
        return;
    }
    const double was =
        static_cast<double>(before.checkpoints.wal_forced) / static_cast<double>(before.length);
    const double is = static_cast<double>(after.checkpoints.wal_forced) / static_cast<double>(after.length);
    const char* moved = Within(was, is, 1.1) ? "went" : is < was ? "fell" : "rose";
    verdict.Append("forced checkpoints %s from %s to %s", moved, CountText(before).c_str(),
                   CountText(after).c_str());
}

void TellWal(const Measures& before, const Measures& after, Reason& verdict) noexcept {
    const double was = before.WalPerTransaction();
    const double is = after.WalPerTransaction();
    if (was > 0 && is > 0)
        verdict.Append("; WAL per transaction %s to %s (%+.0f %%)", PerTransactionText(was).c_str(),
                       PerTransactionText(is).c_str(), 100 * (is / was - 1));
    // Their share of WAL may rise while they fall, because everything else stays what it was.
    if (was > 0 && is > 0 && before.FpiShare() > 0 && after.FpiShare() >= 0)
        verdict.Append(", its full-page images %+.0f %%",
                       100 * (is * after.FpiShare() / (was * before.FpiShare()) - 1));
}

// What holds whatever the load was before.
void TellAfter(const Measures& after, Reason& verdict) noexcept {
    if (after.checkpoints.wal_forced == 0)
        verdict.Append("no forced checkpoint in the %s after", ClockText(after.length).c_str());
    else
        verdict.Append("forced checkpoints after: %s", CountText(after).c_str());
    verdict.Append(" (%s of WAL", RateText(after.WalRate()).c_str());
    if (after.WalPerTransaction() > 0)
        verdict.Append(", %s per transaction", PerTransactionText(after.WalPerTransaction()).c_str());
    verdict.Append(")");
}

void TellDifference(const Measures& before, const Measures& after, Reason& verdict) noexcept {
    verdict.Append("; load differs too much to compare: ");
    const double tps_before = TransactionRate(before);
    const double tps_after = TransactionRate(after);
    if (Within(before.WalRate(), after.WalRate(), kAlike) && tps_before >= 0 && tps_after >= 0)
        verdict.Append("%.0f against %.0f transactions/s", tps_before, tps_after);
    else
        verdict.Append("%s before, %s after", RateText(before.WalRate()).c_str(),
                       RateText(after.WalRate()).c_str());
}

Reason NoWindowYet(const VerdictFacts& about) noexcept {
    Reason verdict;
    const EffectFacts& facts = about.facts;
    const Timestamp decided = about.last.decided_at;
    const Micros length = facts.open_window_due - facts.open_window_start;
    if (facts.open_window_start != 0 && facts.now - decided > (kRecentWindows + 2) * length)
        return verdict.Set("not known: the history holds no whole window soon after it");
    if (facts.open_window_start == 0)
        return verdict.Set("too early: no whole window was recorded after %s, and nobody is watching now",
                           ChangeText(about).c_str());
    // The open window counts when it began after the change; else the next one does.
    Timestamp ends = facts.open_window_due;
    if (facts.open_window_start < decided - 2 * kSecond) ends += length;
    return verdict.Set("too early: the first whole window after %s ends in %s", ChangeText(about).c_str(),
                       ClockText(std::max<Micros>(ends - facts.now, 0)).c_str());
}

}  // namespace

bool Comparable(const Measures& before, const Measures& after) noexcept {
    if (!before.recorded() || !after.recorded()) return false;
    if (!Within(before.WalRate(), after.WalRate(), kAlikeWal)) return false;
    const double tps_before = TransactionRate(before);
    const double tps_after = TransactionRate(after);
    if (tps_before >= 0 && tps_after >= 0) return Within(tps_before, tps_after, kAlike);
    const double records_before = RecordRate(before);
    const double records_after = RecordRate(after);
    if (records_before >= 0 && records_after >= 0) return Within(records_before, records_after, kAlike);
    return true;
}

Reason Verdict(const VerdictFacts& about, const Measures& before, const Measures& after) noexcept {
    if (!after.recorded()) return NoWindowYet(about);
    Reason verdict;
    if (about.changes > 1) verdict.Set("%s: ", ChangeText(about).c_str());
    if (after.WalRate() < kIdleRate && before.WalRate() < kIdleRate)
        return verdict.Append("no load to judge by: %s of WAL", RateText(after.WalRate()).c_str());
    if (!before.recorded()) {
        TellAfter(after, verdict);
        return verdict.Append("; nothing was recorded before %s to compare with",
                              about.changes > 1 ? "them" : ChangeText(about).c_str());
    }
    if (!Comparable(before, after)) {
        TellAfter(after, verdict);
        TellDifference(before, after, verdict);
        return verdict;
    }
    TellForced(before, after, verdict);
    TellWal(before, after, verdict);
    return verdict;
}

Reason VerdictElsewhere(const VerdictFacts& about) noexcept {
    Reason verdict;
    return verdict.Set("one of %s: judged together, at decision %lld", ChangeText(about).c_str(),
                       static_cast<long long>(about.last.id));
}

}  // namespace walsizer
