// Advice, from a log or a server that was watched, as the values that the page draws.
#include "cli/report/report_page.hpp"
#include "cli/report/report_values.hpp"
#include "walsizer/postgres_rules.hpp"

namespace walsizer::cli {

namespace {

void AddVerdict(const ServerAdvice& server, Json& report) {
    const Recommendation& recommendation = server.recommendation;
    Json& verdict = report["verdict"];
    const std::string present = SizeSetting(server.settings.max_wal_size.value);
    switch (recommendation.action) {
        case Action::kRaise:
            verdict["title"] =
                fmt::format("Raise max_wal_size from {} to {}", present, SizeSetting(recommendation.size));
            verdict["raise"] = true;
            break;
        case Action::kKeep:
            verdict["title"] = fmt::format("Keep max_wal_size at {}", present);
            break;
        case Action::kNotApplicable:
            verdict["title"] = "Not applicable: max_wal_size has no effect on this server's storage";
            break;
    }
    for (const std::string& text : {recommendation.reason, recommendation.limits})
        if (!text.empty()) verdict["texts"].push_back(text);
    for (const ConfigLine& line : recommendation.lines)
        verdict["lines"].push_back({{"place", line.place}, {"line", line.line}});
}

void AddCards(const ServerAdvice& server, Json& report) {
    const Recommendation& recommendation = server.recommendation;
    const CauseCounts& counts = server.checkpoints;
    const Bytes present = server.settings.max_wal_size.value;
    Json& cards = report["cards"];
    cards.push_back(
        Card("max_wal_size", SizeSetting(present),
             fmt::format("forces at {}", Size(TriggerSize(present, server.settings.ForEngine())))));
    if (recommendation.need_known)
        cards.push_back(Card("Need", Size(recommendation.need.size),
                             fmt::format("{} of WAL in {}", SizeForPeople(recommendation.need.bytes),
                                         TimeSetting(server.settings.checkpoint_timeout.value))));
    cards.push_back(Card("Forced by WAL", std::to_string(counts[Cause::kWal]),
                         fmt::format("of {} checkpoints", counts.total())));
    cards.push_back(Card("WAL", Size(server.wal_bytes),
                         fmt::format("in {} watched", TimeForPeople(server.span.watched))));
}

Json CheckpointAsJson(const Checkpoint& checkpoint, Bytes trigger) {
    return {{"t", UnixMilliseconds(checkpoint.started->at)},
            {"cause", checkpoint.stale ? "stale" : Name(checkpoint.cause)},
            {"count", 1},
            {"wal", checkpoint.wal_bytes},
            {"gap", Seconds(checkpoint.interval)},
            {"write", Seconds(checkpoint.write_time)},
            {"sync", Seconds(checkpoint.sync_time)},
            {"trigger", trigger}};
}

void AddWhatIf(const ServerAdvice& server, Json& report) {
    for (const WhatIfSize& row : server.what_if.sizes)
        report["what_if"].push_back(
            {{"size", row.max_wal_size},
             {"forced", row.forced_per_hour},
             {"timed", row.timed_per_hour},
             {"wal", row.wal_per_hour},
             {"recovery", static_cast<double>(row.recovery_estimate) / kSecond},
             {"bound", BoundSign(row.is_bound, row.note)},
             {"mark", row.max_wal_size == server.settings.max_wal_size.value ? "present"
                      : row.max_wal_size == server.recommendation.size       ? "recommended"
                                                                             : ""},
             {"note", row.note}});
    report["what_if_unit"] = "per hour";
    report["what_if_hint"] =
        "The WAL that was seen, replayed at other sizes: checkpoints per hour, forced + timed; ≤ at most, ≥ "
        "at "
        "least. " +
        server.what_if.note;
    if (server.what_if.sizes.empty() && !server.what_if.note.empty())
        report["notes"].push_back("No what-if chart: " + server.what_if.note);
}

}  // namespace

Json ReportOf(const Advice& advice) {
    const ServerAdvice& server = advice.Foremost();
    Json report = Empty(advice.servers.size() > 1 ? advice.source + ": " + server.name : advice.source);
    if (server.span.from && server.span.to) {
        report["utc_offset"] = server.span.from->utc_offset;
        report["dated"] = server.span.from->dated;
        report["from"] = UnixMilliseconds(server.span.from->at);
        report["to"] = UnixMilliseconds(server.span.to->at);
        report["subtitle"] = fmt::format("{} to {}", Print(*server.span.from), Print(*server.span.to));
    }
    AddVerdict(server, report);
    AddCards(server, report);
    const Bytes trigger = TriggerSize(server.settings.max_wal_size.value, server.settings.ForEngine());
    for (const Checkpoint& checkpoint : server.history)
        if (checkpoint.started) report["checkpoints"].push_back(CheckpointAsJson(checkpoint, trigger));
    AddWhatIf(server, report);
    for (const Finding& finding : server.findings)
        report["findings"].push_back({{"severity", Name(finding.severity)},
                                      {"topic", finding.code},
                                      {"message", finding.message},
                                      {"statement", finding.hint}});
    for (const std::string& note : advice.notes) report["notes"].push_back(note);
    if (advice.servers.size() > 1)
        report["notes"].push_back(
            fmt::format("{} servers wrote into this source; this is the one that needs a change most.",
                        advice.servers.size()));
    return report;
}

}  // namespace walsizer::cli
