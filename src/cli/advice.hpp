// The answer of `walsizer advise`, whatever it rests on: logs, or a server that was watched. One model, so
// that both print alike.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "walsizer/postgres_rules.hpp"
#include "walsizer/sizing.hpp"
#include "walsizer/units.hpp"

namespace walsizer::cli {

// Where a setting's value comes from, weakest first.
enum class Origin : std::uint8_t {
    kDefault,  // PostgreSQL's own
    kLog,      // the log shows it, or it follows from what the log shows
    kOption,   // the command line says so
    kServer,   // asked the server
};
const char* Name(Origin origin);

template <typename Value>
struct Sourced {
    Value value;
    Origin origin = Origin::kDefault;
    std::string note{};  // how it was found, when that is not plain; "timed checkpoints come every 300 s"
};

struct SettingsInForce {
    Sourced<Bytes> max_wal_size{kGiB};
    Sourced<Micros> checkpoint_timeout{5 * kMinute};
    Sourced<double> completion_target{0.9};
    Sourced<Bytes> segment_size{16 * kMiB};

    ServerSettings ForEngine() const {
        return {max_wal_size.value, segment_size.value, completion_target.value, checkpoint_timeout.value};
    }
};

enum class Cause : std::uint8_t {
    kWal,           // WAL volume forced it
    kTime,          // checkpoint_timeout passed
    kRequest,       // somebody asked: CHECKPOINT, backup, CREATE or DROP DATABASE
    kRecovery,      // end of recovery, promotion, shutdown
    kRestartpoint,  // on a standby; says nothing about this server's own WAL volume
    kUnknown,       // not told
};
inline constexpr std::size_t kCauses = 6;
const char* Name(Cause cause);

struct CauseCounts {
    std::array<std::int64_t, kCauses> of{};
    std::int64_t stale = 0;  // of those by WAL: at the trigger of an older, smaller max_wal_size

    std::int64_t& operator[](Cause cause) { return of[static_cast<std::size_t>(cause)]; }
    std::int64_t operator[](Cause cause) const { return of[static_cast<std::size_t>(cause)]; }
    std::int64_t total() const { return std::accumulate(of.begin(), of.end(), std::int64_t{0}); }
    void Add(const CauseCounts& other) {
        for (std::size_t i = 0; i < kCauses; ++i) of[i] += other.of[i];
        stale += other.stale;
    }
};

// An instant as the source has it. `utc_offset` only serves to print it as it was written.
struct Instant {
    Timestamp at = 0;
    std::int32_t utc_offset = 0;  // seconds
    bool dated = true;            // false: a time of day without a date
};
std::string Print(const Instant& instant);           // 2026-07-18 12:03:59
std::string PrintTimeOfDay(const Instant& instant);  // 12:03:59

// One checkpoint, for whoever draws it. Unknown figures are negative.
struct Checkpoint {
    std::optional<Instant> started;
    Cause cause = Cause::kUnknown;
    bool stale = false;
    Bytes wal_bytes = -1;    // distance from the previous redo point
    Micros interval = -1;    // since the previous checkpoint started
    Micros written_in = -1;  // the end of the interval in which the WAL was written; before that all was idle
    Micros write_time = -1;
    Micros sync_time = -1;
    Micros total_time = -1;
    std::int64_t buffers = -1;
};

struct Span {
    std::optional<Instant> from;
    std::optional<Instant> to;
    Micros watched = 0;  // of which WAL and checkpoints are known; gaps do not count
};

// The line to write, and where. `place` is a title such as "postgresql.conf".
struct ConfigLine {
    std::string place;
    std::string line;
};

enum class Action : std::uint8_t {
    kKeep,
    kRaise,
    kNotApplicable,  // storage that checkpoints for itself
};
const char* Name(Action action);

struct Recommendation {
    Action action = Action::kKeep;
    Bytes size = 0;           // max_wal_size to run with; never below the present one
    Need need;                // uncapped, with its basis
    bool need_known = false;  // false: the source has nothing to size by
    std::string reason;       // sentences: why this and not another value
    std::string limited_by;   // max, disk, recovery_time; empty: no ceiling governs
    std::string limits;       // sentences: the ceilings that were looked at, and those that are unknown
    std::vector<ConfigLine> lines;
};

enum class Severity : std::uint8_t {
    kInfo,     // worth knowing; may be meant so
    kNotice,   // costs something every day
    kWarning,  // hurts now, or will
};
const char* Name(Severity severity);

struct Finding {
    Severity severity = Severity::kInfo;
    std::string code;     // one word for scripts: "forced", "stale", "slow_replay"
    std::string message;  // what happened, with the evidence
    std::string hint;     // what to do
};

// What another max_wal_size would have done with the WAL that was seen. Named as walsizer.what_if()'s
// columns.
struct WhatIfSize {
    Bytes max_wal_size = 0;
    Bytes trigger_size = 0;
    double timed_per_hour = 0;
    double forced_per_hour = 0;
    double forced_ratio = -1;  // of all checkpoints; -1 without any
    Bytes wal_per_hour = 0;
    bool is_bound = false;
    Micros recovery_estimate = -1;
    std::optional<bool> fits_disk;  // unknown without the disk ceiling's options
    bool fits_recovery_time = true;
    std::string note;  // what is marked, and why a bound is one
};

struct WhatIfTable {
    std::vector<WhatIfSize> sizes;  // rising; empty: too little was seen
    std::string note;               // sentences: what the figures rest on, or why there are none
};

struct ServerAdvice {
    std::string name;  // what tells it from the others in the same source; may be empty
    bool standby = false;
    Span span;
    SettingsInForce settings;
    CauseCounts checkpoints;
    std::vector<Checkpoint> history;  // oldest first; the newest ones when there are very many
    Micros shortest_interval = -1;    // between checkpoints that WAL forced
    Micros longest_interval = -1;
    Bytes wal_bytes = 0;     // in the span
    double replay_rate = 0;  // bytes/s in crash recovery; 0 unknown
    Recommendation recommendation;
    WhatIfTable what_if;
    std::vector<Finding> findings;

    bool HasFinding() const;
};

struct Advice {
    std::string source;  // "postgresql.log", "4 files", "host=db1 port=5432"
    bool from_log = false;
    std::vector<ServerAdvice> servers;  // at least one
    std::int64_t lines = 0;
    std::int64_t unparsed = 0;    // lines about checkpoints that could not be read
    std::int64_t duplicates = 0;  // lines that another file had already
    std::vector<std::string> notes;

    bool HasFinding() const;
    CauseCounts Checkpoints() const;
    // The server whose need is most pressing: it stands for all in one figure.
    const ServerAdvice& Foremost() const;
};

}  // namespace walsizer::cli
