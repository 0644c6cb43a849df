#include "walsizer/effect.hpp"

#include <algorithm>

#include "effect_verdict.hpp"
#include "known.hpp"

namespace walsizer {

namespace {

// A decision is made within a look of the window's end that led to it, and works some moments later.
constexpr Micros kSlack = 2 * kSecond;
constexpr double kWhole = 0.9;  // of checkpoint_timeout
// Less of a window than this share before the decision in it says nothing.
constexpr double kShortestPart = 0.2;
// Fewer transactions than this have no typical size.
constexpr std::int64_t kFewTransactions = 100;
// Statistics further than this from the WAL miss a running statement, or contain one that began before.
constexpr double kLeastCoverage = 0.8;
constexpr double kMostCoverage = 1.25;

bool IsApplied(const DecisionRecord& decision) noexcept {
    return decision.outcome == Outcome::kEffective && decision.new_size != decision.old_size;
}

bool IsBefore(const WindowRecord& window, Timestamp at) noexcept {
    return window.end <= at + kSlack;
}
bool IsAfter(const WindowRecord& window, Timestamp at) noexcept {
    return window.start >= at - kSlack;
}

// How many of the newest windows came after `at`. A journal has thousands of windows and hundreds of
// decisions, so the search is binary; a wall clock that was set back may hide a window from it, no more.
std::uint32_t CountAfter(const Ring<WindowRecord>& windows, Timestamp at) noexcept {
    std::uint32_t low = 0;
    std::uint32_t high = windows.size();
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (IsAfter(windows.Newest(middle), at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Changes and the whole windows between them.
class Changes {
  public:
    explicit Changes(const Journal& journal) noexcept : journal_(journal) {}

    static constexpr std::uint32_t kNone = ~0U;
    std::uint32_t Older(std::uint32_t age) const noexcept {
        for (++age; age < journal_.decisions.size(); ++age)
            if (IsApplied(journal_.decisions.Newest(age))) return age;
        return kNone;
    }
    std::uint32_t Newer(std::uint32_t age) const noexcept {
        while (age-- > 0)
            if (IsApplied(journal_.decisions.Newest(age))) return age;
        return kNone;
    }
    bool Together(std::uint32_t older, std::uint32_t newer) const noexcept {
        const Timestamp from = journal_.decisions.Newest(older).decided_at;
        const Timestamp to = journal_.decisions.Newest(newer).decided_at;
        for (std::uint32_t age = CountAfter(journal_.windows, from); age-- > 0;) {
            const WindowRecord& window = journal_.windows.Newest(age);
            if (window.start > to) break;
            if (IsWhole(window) && IsBefore(window, to)) return false;
        }
        // Without a window of that time in the history the time itself must do.
        const WindowRecord* oldest =
            journal_.windows.size() > 0 ? &journal_.windows.Newest(journal_.windows.size() - 1) : nullptr;
        const bool forgotten = oldest != nullptr && oldest->start > to;
        return !forgotten || to - from < oldest->timeout;
    }

  private:
    const Journal& journal_;
};

Measures Before(const Journal& journal, Timestamp change, Timestamp previous) noexcept {
    Measures sum;
    std::uint32_t taken = 0;
    for (std::uint32_t age = CountAfter(journal.windows, change);
         age < journal.windows.size() && taken < kEffectWindows; ++age) {
        const WindowRecord& window = journal.windows.Newest(age);
        if (!IsBefore(window, change)) continue;
        if (previous != 0 && !IsAfter(window, previous)) break;
        if (change - window.end > kRecentWindows * window.length) break;
        if (!IsWhole(window)) continue;
        sum.Add(window);
        ++taken;
    }
    return sum;
}

Measures After(const Journal& journal, Timestamp change, Timestamp next) noexcept {
    Measures sum;
    std::uint32_t taken = 0;
    for (std::uint32_t age = CountAfter(journal.windows, change); age-- > 0 && taken < kEffectWindows;) {
        const WindowRecord& window = journal.windows.Newest(age);
        if (next != 0 && !IsBefore(window, next)) break;
        if (window.start - change > kRecentWindows * window.length) break;
        if (!IsWhole(window)) continue;
        sum.Add(window);
        ++taken;
    }
    return sum;
}

Measures PartBefore(const DecisionRecord& decision, Micros timeout) noexcept {
    Measures part;
    const WindowPart& window = decision.window;
    if (static_cast<double>(window.length) < kShortestPart * static_cast<double>(timeout)) return part;
    if (window.length <= 0) return part;
    part.start = decision.decided_at - window.length;
    part.end = decision.decided_at;
    part.length = window.length;
    part.checkpoints = decision.checkpoints;
    part.wal_bytes = window.wal_bytes;
    part.stat_bytes = window.stat_bytes;
    part.fpi_bytes = window.fpi_bytes;
    part.xids = window.xids;
    return part;
}

}  // namespace

bool IsWhole(const WindowRecord& window) noexcept {
    return static_cast<double>(window.length) >= kWhole * static_cast<double>(window.timeout);
}

void Measures::Add(const WindowRecord& window) noexcept {
    const bool first = length == 0;
    start = first ? window.start : std::min(start, window.start);
    end = first ? window.end : std::max(end, window.end);
    length += std::max<Micros>(window.length, 0);
    checkpoints.Add(window.checkpoints);
    wal_bytes += window.wal_bytes;
    stat_bytes = AddKnown(first, stat_bytes, window.stat_bytes);
    fpi_bytes = AddKnown(first, fpi_bytes, window.fpi_bytes);
    xids = AddKnown(first, xids, window.xids);
    // A standby's counters are not believed, and nothing is known of the times of its restartpoints.
    const bool known = !window.in_recovery && (first || write_time >= 0);
    write_time = known ? (first ? 0 : write_time) + window.write_time : -1;
    sync_time = known ? (first ? 0 : sync_time) + window.sync_time : -1;
}

double Measures::WalRate() const noexcept {
    return length > 0 ? static_cast<double>(wal_bytes) * kSecond / static_cast<double>(length) : 0;
}

double Measures::WalPerTransaction() const noexcept {
    return xids >= kFewTransactions ? static_cast<double>(wal_bytes) / static_cast<double>(xids) : -1;
}

double Measures::FpiShare() const noexcept {
    if (stat_bytes <= 0 || fpi_bytes < 0) return -1;
    const double coverage =
        static_cast<double>(stat_bytes) / static_cast<double>(std::max<Bytes>(wal_bytes, 1));
    if (coverage < kLeastCoverage || coverage > kMostCoverage) return -1;
    return std::min(static_cast<double>(fpi_bytes) / static_cast<double>(stat_bytes), 1.0);
}

Micros Measures::TimePerCheckpoint() const noexcept {
    return checkpoints.effective() > 0 ? length / checkpoints.effective() : -1;
}

Effect EffectOf(const EffectFacts& facts, std::uint32_t age) noexcept {
    Effect effect;
    const Journal& journal = facts.journal;
    const Changes changes(journal);
    if (age >= journal.decisions.size() || !IsApplied(journal.decisions.Newest(age))) return effect;
    effect.applied = true;

    const auto is_raise = [&](std::uint32_t at) {
        return journal.decisions.Newest(at).new_size > journal.decisions.Newest(at).old_size;
    };
    bool all_raises = is_raise(age);
    std::uint32_t first = age;
    std::uint32_t older = changes.Older(first);
    for (; older != Changes::kNone && changes.Together(older, first); older = changes.Older(first)) {
        first = older;
        all_raises = all_raises && is_raise(older);
        ++effect.changes;
    }
    std::uint32_t last = age;
    std::uint32_t newer = changes.Newer(last);
    for (; newer != Changes::kNone && changes.Together(last, newer); newer = changes.Newer(last)) {
        last = newer;
        all_raises = all_raises && is_raise(newer);
        ++effect.changes;
    }
    const DecisionRecord& from = journal.decisions.Newest(first);
    const DecisionRecord& to = journal.decisions.Newest(last);
    effect.judged_here = last == age;
    const VerdictFacts verdict = {facts, from, to, effect.changes, all_raises};
    if (!effect.judged_here) {
        effect.verdict = VerdictElsewhere(verdict);
        return effect;
    }
    const Timestamp previous = older == Changes::kNone ? 0 : journal.decisions.Newest(older).decided_at;
    const Timestamp next = newer == Changes::kNone ? 0 : journal.decisions.Newest(newer).decided_at;
    effect.after = After(journal, to.decided_at, next);
    effect.before = Before(journal, from.decided_at, previous);
    const Micros timeout = facts.open_window_due - facts.open_window_start;
    const Measures part = PartBefore(from, timeout);
    // The window before may have been another load's; then what the window of the change saw so far may do.
    const bool better = !effect.before.recorded() ||
                        (!Comparable(effect.before, effect.after) && Comparable(part, effect.after));
    if (part.recorded() && better) effect.before = part;
    effect.verdict = Verdict(verdict, effect.before, effect.after);
    return effect;
}

}  // namespace walsizer
