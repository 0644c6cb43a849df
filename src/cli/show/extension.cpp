#include "cli/show/extension.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

// A timestamp as microseconds since PostgreSQL's epoch, an interval as microseconds.
std::string Instant2000(const char* column) {
    return fmt::format(
        "((pg_catalog.date_part('epoch', {0}) - 946684800) * 1000000)::pg_catalog.int8 AS {0}_us", column);
}
std::string Length(const char* column) {
    return fmt::format("(pg_catalog.date_part('epoch', {0}) * 1000000)::pg_catalog.int8 AS {0}_us", column);
}

std::string Text(const Rows& rows, const char* name, int row = 0) {
    return rows.Get(name, row).value_or("");
}

std::optional<Timestamp> Moment(const Rows& rows, const char* name, int row = 0) {
    if (!rows.Get(name, row)) return std::nullopt;
    return rows.Integer(name, row);
}

}  // namespace

bool ExtensionStatus::NeedsAttention() const {
    return state == "at_ceiling" || state == "blocked" || state == "inactive" || state == "not_running";
}

bool HasExtension(Connection& connection) {
    return !connection.Query("SELECT 1 AS here FROM pg_catalog.pg_extension WHERE extname = 'walsizer'")
                .empty();
}

void RequireExtension(Connection& connection) {
    if (!HasExtension(connection))
        throw std::runtime_error(fmt::format(
            "the extension walsizer is not installed in database \"{}\" of {}.\nRun CREATE EXTENSION "
            "walsizer "
            "there, or name with -d the database that has it. Where no extension can be loaded, `walsizer "
            "advise` watches the server without one.",
            connection.dbname(), connection.Where()));
    try {
        connection.Query("SELECT state FROM walsizer.status");
    } catch (const StatementFailed& error) {
        if (error.sqlstate != "42501") throw;
        throw std::runtime_error(
            fmt::format("{}.\nGRANT pg_monitor to this role, or connect as a member of it.", error.what()));
    }
}

ExtensionStatus ReadStatus(Connection& connection) {
    const Rows rows = connection.Query(
        "SELECT s.*, " + Instant2000("state_since") + ", " + Instant2000("window_start") + ", " +
        Instant2000("window_end") + ", " + Length("recovery_estimate") +
        ", pg_catalog.current_setting('checkpoint_timeout') AS timeout, "
        "pg_catalog.current_setting('checkpoint_completion_target') AS target FROM walsizer.status s");
    ExtensionStatus status;
    status.state = Text(rows, "state");
    status.reason = Text(rows, "reason");
    status.source = Text(rows, "source");
    status.limited_by = Text(rows, "limited_by");
    status.replay_rate_source = Text(rows, "replay_rate_source");
    status.wal_held_by = Text(rows, "wal_held_by");
    status.last_error = Text(rows, "last_error");
    status.version = Text(rows, "version");
    status.state_since = Moment(rows, "state_since_us");
    status.window_start = Moment(rows, "window_start_us");
    status.window_end = Moment(rows, "window_end_us");
    ParseTime(Text(rows, "timeout"), kSecond, status.checkpoint_timeout);
    status.completion_target = rows.Number("target");
    status.in_recovery = rows.Flag("in_recovery");
    const auto size = [&rows](const char* name) { return rows.Integer(name, 0, -1); };
    status.max_wal_size = size("max_wal_size");
    status.original_size = size("original_size");
    status.need = size("need");
    status.recommended = size("recommended");
    status.ceiling = size("ceiling");
    status.trigger_size = size("trigger_size");
    status.wal_since_redo = size("wal_since_redo");
    status.disk_size = size("disk_size");
    status.disk_free = size("disk_free");
    status.disk_reserve = size("disk_reserve");
    status.wal_dir_size = size("wal_dir_size");
    status.wal_held = size("wal_held");
    status.wal_rate = rows.Number("wal_rate", 0, -1);
    status.replay_rate = rows.Number("replay_rate", 0, -1);
    status.requested_ratio = rows.Number("requested_ratio", 0, -1);
    status.forced_ratio = rows.Number("forced_ratio", 0, -1);
    status.recovery_estimate = size("recovery_estimate_us");
    status.num_timed = size("num_timed");
    status.num_requested = size("num_requested");
    status.num_wal_forced = size("num_wal_forced");
    status.num_stale = size("num_stale");
    status.num_decisions = size("num_decisions");
    return status;
}

std::vector<ExtensionDecision> ReadDecisions(Connection& connection, int most) {
    const Rows rows = connection.Query(
        fmt::format("SELECT d.*, {} FROM walsizer.decisions d LIMIT {}", Instant2000("decided_at"), most));
    std::vector<ExtensionDecision> decisions;
    for (int row = 0; row < rows.size(); ++row) {
        ExtensionDecision decision;
        decision.decided_at = rows.Integer("decided_at_us", row);
        decision.action = Text(rows, "action", row);
        decision.cause = Text(rows, "cause", row);
        decision.outcome = Text(rows, "outcome", row);
        decision.reason = Text(rows, "reason", row);
        decision.old_size = rows.Integer("old_size", row, -1);
        decision.new_size = rows.Integer("new_size", row, -1);
        decision.applied = rows.Flag("applied", row);
        decisions.push_back(std::move(decision));
    }
    return decisions;
}

std::vector<ExtensionCheckpoint> ReadCheckpoints(Connection& connection, int most) {
    const Rows rows = connection.Query(fmt::format("SELECT c.*, {}, {} FROM walsizer.checkpoints c LIMIT {}",
                                                   Instant2000("started_at"), Length("cycle_time"), most));
    std::vector<ExtensionCheckpoint> checkpoints;
    for (int row = 0; row < rows.size(); ++row) {
        ExtensionCheckpoint checkpoint;
        checkpoint.started_at = rows.Integer("started_at_us", row);
        checkpoint.cause = Text(rows, "cause", row);
        checkpoint.count = rows.Integer("count", row, 1);
        checkpoint.wal_bytes = rows.Integer("wal_bytes", row, -1);
        checkpoint.cycle_time = rows.Integer("cycle_time_us", row, -1);
        checkpoint.trigger_size = rows.Integer("trigger_size", row, -1);
        checkpoint.max_wal_size = rows.Integer("max_wal_size", row, -1);
        checkpoints.push_back(std::move(checkpoint));
    }
    return checkpoints;
}

std::vector<ExtensionWindow> ReadWindows(Connection& connection, int most) {
    const Rows rows =
        connection.Query(fmt::format("SELECT w.*, {}, {} FROM walsizer.windows w LIMIT {}",
                                     Instant2000("window_start"), Instant2000("window_end"), most));
    std::vector<ExtensionWindow> windows;
    for (int row = 0; row < rows.size(); ++row) {
        ExtensionWindow window;
        window.start = rows.Integer("window_start_us", row);
        window.end = rows.Integer("window_end_us", row);
        window.num_timed = rows.Integer("num_timed", row);
        window.num_requested = rows.Integer("num_requested", row);
        window.num_wal_forced = rows.Integer("num_wal_forced", row);
        window.wal_bytes = rows.Integer("wal_bytes", row);
        window.max_wal_size = rows.Integer("max_wal_size", row);
        windows.push_back(window);
    }
    return windows;
}

std::string StatusAsJson(Connection& connection) {
    return Text(connection.Query("SELECT pg_catalog.row_to_json(s) AS json FROM walsizer.status s"), "json");
}

std::string DecisionsAsJson(Connection& connection, int most) {
    return Text(connection.Query(fmt::format("SELECT COALESCE(pg_catalog.json_agg(d), '[]') AS json "
                                             "FROM (SELECT * FROM walsizer.decisions LIMIT {}) d",
                                             most)),
                "json");
}

}  // namespace walsizer::cli
