#include "walsizer/advice.hpp"

#include <algorithm>

#include "advice_rules.hpp"
#include "known.hpp"

namespace walsizer {

namespace {

constexpr Rule kRules[] = {
    AdviseStorage,       AdviseHeldWal,          AdviseLongCheckpoint,    AdviseLongSync,
    AdviseBackendFsyncs, AdviseBackendWrites,    AdviseBackgroundWriter,  AdviseRequests,
    AdviseMinAboveMax,   AdviseCompletionTarget, AdviseCheckpointTimeout, AdviseFullPageImages,
    AdviseMinTooSmall,   AdviseOneOff,           AdvisePhantomWal,        AdviseLogCheckpoints,
};
static_assert(sizeof(kRules) / sizeof(kRules[0]) <= Findings::kMost);

}  // namespace

const char* Name(Severity severity) noexcept {
    switch (severity) {
        case Severity::kInfo:
            return "info";
        case Severity::kNotice:
            return "notice";
        case Severity::kWarning:
            return "warning";
    }
    return "unknown";
}

void Activity::Add(const WindowRecord& window) noexcept {
    const bool first = !measures.recorded();
    measures.Add(window);
    buffers_written += window.buffers_written;
    if (window.completed >= 0) {
        completed += window.completed;
        write_time += window.write_time;
        sync_time += window.sync_time;
    }
    clean = AddKnown(first, clean, window.clean);
    maxwritten = AddKnown(first, maxwritten, window.maxwritten);
    backend = AddKnown(first, backend, window.backend);
    backend_fsync = AddKnown(first, backend_fsync, window.backend_fsync);
    if (!IsWhole(window)) return;
    least_wal = windows == 0 ? window.wal_bytes : std::min(least_wal, window.wal_bytes);
    most_wal = std::max(most_wal, window.wal_bytes);
    ++windows;
}

void FillActivity(const Journal& journal, const WindowRecord* open, AdviceFacts& facts) noexcept {
    facts.lately = Activity();
    facts.settled = Activity();
    const Timestamp changed = [&]() -> Timestamp {
        for (std::uint32_t age = 0; age < journal.decisions.size(); ++age) {
            const DecisionRecord& decision = journal.decisions.Newest(age);
            if (decision.outcome == Outcome::kEffective && decision.new_size != decision.old_size)
                return decision.decided_at;
        }
        return 0;
    }();
    const auto add = [&](const WindowRecord& window) {
        if (window.length <= 0 || window.in_recovery != facts.in_recovery) return;
        // From before a long stop of the server.
        if (facts.now - window.end > 2 * kRecentWindows * window.length) return;
        facts.lately.Add(window);
        const bool quiet = window.checkpoints.wal_forced == 0 && window.checkpoints.stale == 0;
        if (quiet && (changed == 0 || window.start >= changed - kSecond)) facts.settled.Add(window);
    };
    if (open != nullptr) add(*open);
    const std::uint32_t recent = std::min(journal.windows.size(), kRecentWindows);
    for (std::uint32_t age = 0; age < recent; ++age) add(journal.windows.Newest(age));
}

Finding& Findings::Add(Severity severity, const char* topic) noexcept {
    Finding& row = rows[std::min(count, kMost - 1)];
    if (count < kMost) ++count;
    row = Finding();
    row.severity = severity;
    row.topic = topic;
    return row;
}

void Advise(const AdviceFacts& facts, Findings& findings) noexcept {
    for (const Rule rule : kRules) rule(facts, findings);
    // The order of the rules stays within a severity; there are too few rows for anything but insertion.
    for (unsigned i = 1; i < findings.count; ++i)
        for (unsigned at = i; at > 0 && findings.rows[at].severity > findings.rows[at - 1].severity; --at)
            std::swap(findings.rows[at], findings.rows[at - 1]);
}

Text<48> SpanText(const AdviceFacts& facts) noexcept {
    Text<48> text;
    return text.Set("in the %s %s", facts.from_log ? "log's last" : "last",
                    ClockText(facts.lately.measures.length).c_str());
}

ShortText SettingText(Bytes size) noexcept {
    ShortText text;
    if (size >= kGiB && size % kGiB == 0) return text.Set("%lldGB", static_cast<long long>(size / kGiB));
    return text.Set("%lldMB", static_cast<long long>(std::max<Bytes>(size / kMiB, 1)));
}

}  // namespace walsizer
