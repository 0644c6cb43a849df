#include "cli/log/log_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/log/log_findings.hpp"
#include "cli/log/log_record.hpp"
#include "cli/recommend.hpp"
#include "cli/what_if.hpp"
#include "walsizer/sizing.hpp"

namespace walsizer::cli {

namespace {

// Less than a tenth of checkpoint_timeout tells little, as in the engine (sizing.cpp).
constexpr Micros kSoundShare = 10;

// The engine's own judgement of peaks, which it reads from windows.
Need MeasuredNeed(const Tally& tally, const ServerSettings& server) {
    WindowRecord window;
    window.length = server.checkpoint_timeout;
    window.peak = tally.peak;
    window.clean_peak = tally.clean_peak;
    std::uint64_t windows_written = 1;
    std::uint64_t none = 0;
    Totals totals;
    DecisionRecord decision;
    CheckpointRecord checkpoint;
    Journal journal = {
        {&decision, 1, &none}, {&window, 1, &windows_written}, {&checkpoint, 1, &none}, totals};
    Observation now;
    now.server = server;
    Tracker tracker;
    tracker.Look(now, journal);
    return PresentNeed(tracker, journal);
}

// Less than a whole checkpoint_timeout was watched: the rest at the same pace.
Need ProjectedNeed(const Tally& tally, const ServerSettings& server) {
    Need need;
    const Micros left = server.checkpoint_timeout - tally.seen_time;
    Pace pace;
    pace.steady = static_cast<double>(tally.seen_bytes) * kSecond / static_cast<double>(tally.seen_time);
    const Demand demand = Project({tally.seen_bytes, tally.seen_time, {}}, left, pace);
    need.bytes = demand.seen + demand.unseen;
    need.size = SizeFor(demand, server);
    need.basis = NeedBasis::kProjected;
    need.sound = tally.seen_time * kSoundShare >= server.checkpoint_timeout;
    return need;
}

void JudgeNeed(const LoggedServer& server, ServerAdvice& advice) {
    const ServerSettings settings = advice.settings.ForEngine();
    const Tally& tally = server.tally;
    Recommendation& recommendation = advice.recommendation;
    if (tally.peak >= 0) {
        recommendation.need = MeasuredNeed(tally, settings);
        recommendation.need_known = true;
    } else if (tally.seen_time > 0 && tally.seen_bytes > 0) {
        recommendation.need = ProjectedNeed(tally, settings);
        // WAL that was reckoned from an assumed trigger, over some seconds: that is no measurement.
        recommendation.need_known = recommendation.need.sound || !tally.estimated;
    }
}

// Restartpoints follow the primary's checkpoints, so that there is nothing to replay.
WhatIfTable WhatIfOf(const LogRecord& record, const LimitFacts& limits, const ServerAdvice& advice) {
    if (advice.standby || advice.checkpoints.total() == 0) return {};
    WhatIfTable table =
        ReplayAtOtherSizes({record.buckets(), FirstTouchCurve(),
                            "a log does not tell full-page images, which fade with the cycle",
                            "A log tells WAL per checkpoint, not its pace in between: it was spread evenly."},
                           limits, advice);
    const bool untold = record.buckets().size() == 0;
    if (untold)
        table.note =
            "The log does not tell how much WAL its checkpoints covered (lines \"checkpoint complete\" of "
            "log_checkpoints = on): nothing to replay at other sizes.";
    return table;
}

ServerAdvice AdviseServer(const LoggedServer& server, const CeilingOptions& ceilings) {
    const Tally& tally = server.tally;
    ServerAdvice advice;
    advice.name = server.name;
    advice.settings = server.settings;
    advice.checkpoints = tally.counts;
    advice.history.assign(tally.history.begin(), tally.history.end());
    advice.span = {tally.from, tally.to, tally.watched};
    advice.shortest_interval = tally.shortest_forced;
    advice.longest_interval = tally.longest_forced;
    advice.wal_bytes = tally.wal_bytes;
    advice.replay_rate = server.replay_rate;
    advice.standby = tally.counts[Cause::kRestartpoint] > 0 && tally.counts[Cause::kWal] == 0 &&
                     tally.counts[Cause::kTime] == 0;
    JudgeNeed(server, advice);

    Evidence evidence;
    evidence.forced = tally.forced;
    evidence.forced_close = tally.forced_close;
    evidence.effective = tally.counts.total() - tally.counts[Cause::kRestartpoint] - tally.counts.stale;
    evidence.places = server.rds
                          ? std::vector<Place>{Place::kRds}
                          : std::vector<Place>{Place::kConf, Place::kSql, Place::kPatroni, Place::kCnpg};
    Recommend(advice, evidence, ceilings);
    const LogRecord record(advice.history, advice.settings.ForEngine(), advice.standby);
    const LimitFacts limits = LimitsOf(advice, evidence, ceilings);
    advice.what_if = WhatIfOf(record, limits, advice);
    advice.findings = LogFindings(server, advice, ceilings);
    AddEngineFindings(record, limits, !server.rds, advice);
    return advice;
}

}  // namespace

Advice AdviseByLog(const std::vector<std::string>& paths, const LogFacts& facts,
                   const CeilingOptions& ceilings) {
    Advice advice;
    advice.from_log = true;
    advice.source = paths.size() != 1 ? fmt::format("{} log files", paths.size())
                    : paths[0] == "-" ? "standard input"
                                      : paths[0];
    for (const LoggedServer& server : facts.servers) advice.servers.push_back(AdviseServer(server, ceilings));
    advice.lines = facts.lines;
    advice.unparsed = facts.unparsed;
    advice.duplicates = facts.duplicates;
    advice.notes = facts.notes;
    if (advice.Checkpoints().total() == 0)
        advice.notes.push_back(
            "The log has no line about checkpoints. They are logged with log_checkpoints = on, which is the "
            "default from PostgreSQL 15 on.");
    return advice;
}

}  // namespace walsizer::cli
