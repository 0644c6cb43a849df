// Advice, and the extension's history, as the values that the page draws.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/quantity.hpp"
#include "cli/report/report_page.hpp"
#include "cli/server/local_time.hpp"
#include "cli/show/extension.hpp"
#include "walsizer/postgres_rules.hpp"

namespace walsizer::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostCheckpoints = 1000;
constexpr int kMostWindows = 3000;
constexpr int kMostDecisions = 500;

std::int64_t UnixMilliseconds(Timestamp at) {
    constexpr std::int64_t kEpoch = 946684800;  // 2000-01-01 in Unix time
    return at / kMillisecond + kEpoch * 1000;
}

Json Seconds(Micros time) {
    if (time < 0) return nullptr;
    return static_cast<double>(time) / kSecond;
}

std::string Size(Bytes size) {
    return size < 0 ? "unknown" : SizeForPeople(static_cast<double>(size));
}

std::string Percent(double share) {
    return share < 0 ? "none" : fmt::format("{:.0f} %", 100 * share);
}

// In front of a row's figures: a smaller size than the present one would have done at least this much.
const char* BoundSign(bool is_bound, const std::string& note) {
    if (!is_bound) return "";
    return note.find("at least") != std::string::npos ? "≥" : "≤";
}

Json Card(const std::string& label, const std::string& value, const std::string& note) {
    return {{"label", label}, {"value", value}, {"note", note}};
}

// All keys that the page reads, so that none is ever missing.
Json Empty(const std::string& title) {
    const Instant now = LocalInstant(TimestampNow());
    return {
        {"title", title},
        {"subtitle", ""},
        {"utc_offset", now.utc_offset},
        {"dated", true},
        {"from", nullptr},
        {"to", nullptr},
        {"size", -1},
        {"verdict", {{"title", ""}, {"raise", false}, {"texts", Json::array()}, {"lines", Json::array()}}},
        {"cards", Json::array()},
        {"checkpoints", Json::array()},
        {"windows", Json::array()},
        {"steps", Json::array()},
        {"what_if", Json::array()},
        {"what_if_unit", ""},
        {"what_if_hint", ""},
        {"findings", Json::array()},
        {"notes", Json::array()},
        {"footer", fmt::format("Written by walsizer {} on {}.", WALSIZER_VERSION, Print(now))}};
}

// ---- From advice: a log, or a server that was watched ----

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

// ---- From the extension ----

void AddStatus(const ExtensionStatus& status, Json& report) {
    Json& verdict = report["verdict"];
    verdict["title"] = fmt::format("walsizer is {}", status.state);
    verdict["raise"] = status.NeedsAttention();
    if (!status.reason.empty()) verdict["texts"].push_back(status.reason);
    if (!status.last_error.empty()) verdict["texts"].push_back("Last error: " + status.last_error);
    if (!status.started()) return;
    report["size"] = status.max_wal_size;
    Json& cards = report["cards"];
    cards.push_back(Card("max_wal_size", Size(status.max_wal_size),
                         status.original_size > 0
                             ? fmt::format("{} before walsizer", Size(status.original_size))
                             : fmt::format("from {}", status.source)));
    cards.push_back(Card("Need", Size(status.need), fmt::format("recommended {}", Size(status.recommended))));
    cards.push_back(Card("Ceiling", Size(status.ceiling), "by " + status.limited_by));
    cards.push_back(
        Card("Forced by WAL", Percent(status.forced_ratio), "of the last 12 windows' checkpoints"));
    if (status.recovery_estimate >= 0)
        cards.push_back(Card(
            "Crash recovery", TimeForPeople(status.recovery_estimate),
            fmt::format("at worst, {}/s {}", SizeForPeople(status.replay_rate), status.replay_rate_source)));
    if (status.disk_free >= 0)
        cards.push_back(Card("Free for WAL", Size(status.disk_free),
                             fmt::format("{} reserved", Size(status.disk_reserve))));
}

void AddHistory(Connection& connection, const ExtensionStatus& status, Json& report) {
    const auto oldest_first = [](auto rows) {
        std::reverse(rows.begin(), rows.end());
        return rows;
    };
    for (const ExtensionCheckpoint& row : oldest_first(ReadCheckpoints(connection, kMostCheckpoints)))
        report["checkpoints"].push_back({{"t", UnixMilliseconds(row.started_at)},
                                         {"cause", row.cause},
                                         {"count", row.count},
                                         {"wal", row.wal_bytes},
                                         {"gap", Seconds(row.cycle_time)},
                                         {"write", nullptr},
                                         {"sync", nullptr},
                                         {"trigger", row.trigger_size}});
    // The trigger that belonged to each window's size, by the present completion target.
    const Bytes segment = [&connection] {
        Bytes size = 16 * kMiB;
        ParseSize(connection.Query("SELECT pg_catalog.current_setting('wal_segment_size') AS size")
                      .Get("size")
                      .value_or(""),
                  1, size);
        return size;
    }();
    const ServerSettings server = {status.max_wal_size, segment, status.completion_target,
                                   status.checkpoint_timeout};
    for (const ExtensionWindow& row : oldest_first(ReadWindows(connection, kMostWindows)))
        report["windows"].push_back({{"from", UnixMilliseconds(row.start)},
                                     {"to", UnixMilliseconds(row.end)},
                                     {"wal", row.wal_bytes},
                                     {"trigger", TriggerSize(row.max_wal_size, server)},
                                     {"timed", row.num_timed},
                                     {"requested", row.num_requested},
                                     {"forced", row.num_wal_forced}});
    for (const ExtensionDecision& row : oldest_first(ReadDecisions(connection, kMostDecisions)))
        report["steps"].push_back({{"t", UnixMilliseconds(row.decided_at)},
                                   {"action", row.action},
                                   {"old", row.old_size},
                                   {"to", row.new_size},
                                   {"applied", row.applied},
                                   {"outcome", row.outcome},
                                   {"reason", row.reason}});
}

bool Offers(Connection& connection, const char* function) {
    return connection
        .Query(fmt::format("SELECT pg_catalog.to_regprocedure('{}') IS NOT NULL AS offers", function))
        .Flag("offers");
}

void AddWhatIf(Connection& connection, const ExtensionStatus& status, Json& report) {
    if (!Offers(connection, "walsizer.what_if(bigint[],interval)")) return;
    std::optional<Rows> answer;
    try {
        answer = connection.Query(
            "SELECT w.*, pg_catalog.date_part('epoch', recovery_estimate) AS recovery FROM "
            "walsizer.what_if() w ORDER BY max_wal_size");
    } catch (const StatementFailed& error) {
        constexpr const char* kNotYet = "55000";  // object_not_in_prerequisite_state: too little on record
        if (error.sqlstate != kNotYet) throw;
        report["notes"].push_back(fmt::format("No what-if chart: {}", error.what()));
        return;
    }
    const Rows& rows = *answer;
    for (int row = 0; row < rows.size(); ++row) {
        const Bytes size = rows.Integer("max_wal_size", row);
        const std::string note = rows.Get("note", row).value_or("");
        report["what_if"].push_back({{"size", size},
                                     {"forced", rows.Number("forced_per_hour", row)},
                                     {"timed", rows.Number("timed_per_hour", row)},
                                     {"wal", rows.Integer("wal_per_hour", row, -1)},
                                     {"recovery", rows.Number("recovery", row, -1)},
                                     {"bound", BoundSign(rows.Flag("is_bound", row), note)},
                                     {"mark", size == status.max_wal_size  ? "present"
                                              : size == status.recommended ? "recommended"
                                                                           : ""},
                                     {"note", note}});
    }
    report["what_if_unit"] = "per hour";
    report["what_if_hint"] =
        "The WAL on record, replayed at other sizes: checkpoints per hour, forced + timed; ≤ at most, ≥ at "
        "least.";
}

void AddFindings(Connection& connection, Json& report) {
    if (!Offers(connection, "walsizer.advice()")) return;
    const Rows rows = connection.Query("SELECT * FROM walsizer.advice()");
    for (int row = 0; row < rows.size(); ++row)
        report["findings"].push_back({{"severity", rows.Get("severity", row).value_or("info")},
                                      {"topic", rows.Get("topic", row).value_or("")},
                                      {"message", fmt::format("{}: {}", rows.Get("finding", row).value_or(""),
                                                              rows.Get("evidence", row).value_or(""))},
                                      {"statement", rows.Get("statement", row).value_or("")}});
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

Json ReportOf(Connection& connection) {
    const ExtensionStatus status = ReadStatus(connection);
    const int version = connection.version();
    Json report = Empty(connection.Where());
    report["subtitle"] =
        fmt::format("PostgreSQL {}.{}, walsizer {}", version / 10000, version % 10000, status.version);
    AddStatus(status, report);
    if (!status.started()) return report;
    AddHistory(connection, status, report);
    report["to"] = UnixMilliseconds(TimestampNow());
    report["from"] = report["to"];
    AddWhatIf(connection, status, report);
    AddFindings(connection, report);
    return report;
}

}  // namespace walsizer::cli
