#include <algorithm>

#include "cli/finding_words.hpp"
#include "cli/log/log_findings.hpp"
#include "walsizer/advice.hpp"

namespace walsizer::cli {

namespace {

constexpr double kNoFault = 0.9;  // PostgreSQL's default since 14

// The log's own finding about the same thing.
const char* SameInLog(const std::string& code) {
    return code == "checkpoint_sync_time" ? "slow_sync" : "";
}

// What a log cannot support: a checkpoint_timeout that is only assumed is no measure; and without WAL
// statistics the engine takes whole segments for switched ones, but checkpoints that WAL forces come at the
// end of a segment. LogFindings() knows switched segments by the buffers written.
bool IsFounded(const std::string& code, const SettingsInForce& settings) {
    if (code == "checkpoint_timeout") return settings.checkpoint_timeout.origin != Origin::kDefault;
    return code != "archive_timeout" && code != "segment_switches";
}

// One finding of two: with the evidence of both and the more urgent severity.
void Absorb(const std::string& code, Finding& finding, std::vector<Finding>& others) {
    const auto same =
        std::find_if(others.begin(), others.end(), [&](const Finding& other) { return other.code == code; });
    if (same == others.end()) return;
    finding.severity = std::max(finding.severity, same->severity);
    finding.message += ". " + same->message;
    others.erase(same);
}

AdviceFacts FactsOf(const LogRecord& record, const LimitFacts& limits, const ServerAdvice& advice) {
    const SettingsInForce& settings = advice.settings;
    AdviceFacts facts;
    facts.server = settings.ForEngine();
    // A default that nobody told is no evidence against it.
    if (settings.completion_target.origin == Origin::kDefault) facts.server.completion_target = kNoFault;
    facts.in_recovery = advice.standby;
    facts.from_log = true;
    facts.volume = limits.volume;
    if (advice.recommendation.need_known) facts.need = advice.recommendation.need.size;
    facts.ceiling = PresentCeiling(limits).size;
    facts.journal = &record.journal();
    facts.now = record.end();
    FillActivity(record.journal(), nullptr, facts);
    return facts;
}

}  // namespace

void AddEngineFindings(const LogRecord& record, const LimitFacts& limits, bool by_sql, ServerAdvice& advice) {
    Findings findings;
    Advise(FactsOf(record, limits, advice), findings);
    for (Finding& finding : InWords(findings, by_sql)) {
        if (!IsFounded(finding.code, advice.settings)) continue;
        Absorb(SameInLog(finding.code), finding, advice.findings);
        advice.findings.push_back(std::move(finding));
    }
}

}  // namespace walsizer::cli
