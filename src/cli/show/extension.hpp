// What the extension tells over SQL, as values. NULL is -1, or an empty text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/server/connection.hpp"
#include "walsizer/units.hpp"

namespace walsizer::cli {

struct ExtensionStatus {
    std::string state;
    std::string reason;
    std::string source;
    std::string limited_by;
    std::string replay_rate_source;
    std::string wal_held_by;
    std::string last_error;
    std::string version;
    std::optional<Timestamp> state_since;
    std::optional<Timestamp> window_start;
    std::optional<Timestamp> window_end;
    Micros checkpoint_timeout = 5 * kMinute;
    double completion_target = 0.9;
    bool in_recovery = false;
    Bytes max_wal_size = -1;
    Bytes original_size = -1;
    Bytes need = -1;
    Bytes recommended = -1;
    Bytes ceiling = -1;
    Bytes trigger_size = -1;
    Bytes wal_since_redo = -1;
    Bytes disk_size = -1;
    Bytes disk_free = -1;
    Bytes disk_reserve = -1;
    Bytes wal_dir_size = -1;
    Bytes wal_held = -1;
    double wal_rate = -1;     // bytes/s
    double replay_rate = -1;  // bytes/s
    double requested_ratio = -1;
    double forced_ratio = -1;
    Micros recovery_estimate = -1;
    std::int64_t num_timed = -1;
    std::int64_t num_requested = -1;
    std::int64_t num_wal_forced = -1;
    std::int64_t num_stale = -1;
    std::int64_t num_decisions = -1;

    bool started() const { return max_wal_size > 0; }
    // The states in which somebody has something to do.
    bool NeedsAttention() const;
};

struct ExtensionDecision {
    Timestamp decided_at = 0;
    std::string action;
    std::string cause;
    std::string outcome;
    std::string reason;
    Bytes old_size = -1;
    Bytes new_size = -1;
    bool applied = false;
};

struct ExtensionCheckpoint {
    Timestamp started_at = 0;
    std::string cause;
    std::int64_t count = 1;
    Bytes wal_bytes = -1;
    Micros cycle_time = -1;
    Bytes trigger_size = -1;
    Bytes max_wal_size = -1;
};

struct ExtensionWindow {
    Timestamp start = 0;
    Timestamp end = 0;
    std::int64_t num_timed = 0;
    std::int64_t num_requested = 0;
    std::int64_t num_wal_forced = 0;
    Bytes wal_bytes = 0;
    Bytes max_wal_size = 0;
};

bool HasExtension(Connection& connection);
// Throws std::runtime_error that says what to do when the extension is not there or not readable.
void RequireExtension(Connection& connection);

ExtensionStatus ReadStatus(Connection& connection);
// The newest first.
std::vector<ExtensionDecision> ReadDecisions(Connection& connection, int most);
std::vector<ExtensionCheckpoint> ReadCheckpoints(Connection& connection, int most);
std::vector<ExtensionWindow> ReadWindows(Connection& connection, int most);

// One row of walsizer.status, and the last decisions, as the server writes them in JSON.
std::string StatusAsJson(Connection& connection);
std::string DecisionsAsJson(Connection& connection, int most);

}  // namespace walsizer::cli
