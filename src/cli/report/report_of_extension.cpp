// The extension's history as the values that the page draws.
#include <algorithm>
#include <optional>

#include "cli/report/report_page.hpp"
#include "cli/report/report_values.hpp"
#include "cli/show/extension.hpp"
#include "walsizer/postgres_rules.hpp"

namespace walsizer::cli {

namespace {

constexpr int kMostCheckpoints = 1000;
constexpr int kMostWindows = 3000;
constexpr int kMostDecisions = 500;

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
