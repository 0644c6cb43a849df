// What walsizer remembers and shows: checkpoints, windows, decisions and counters that only rise.
// Records are plain values that also go to the history file: append fields at the end, never reorder them.
#pragma once

#include <cstdint>

#include "walsizer/ring.hpp"
#include "walsizer/text.hpp"
#include "walsizer/units.hpp"

namespace walsizer {

// Why a checkpoint started. Only kWal counts as forced.
enum class CheckpointCause : std::uint8_t {
    kWal,      // requested, and WAL since the redo point had reached the trigger
    kTime,     // checkpoint_timeout passed
    kRequest,  // asked for: CHECKPOINT, backup, CREATE/DROP DATABASE, restart, promotion
    kStale,    // requested at the trigger of an older, smaller setting: a running statement has not reloaded
               // yet
};
const char* Name(CheckpointCause cause) noexcept;

struct CheckpointRecord {
    Timestamp started_at = 0;
    Lsn redo = 0;
    Bytes wal_bytes = 0;     // distance from the previous redo point
    Micros cycle_time = -1;  // since the previous redo point; -1 unknown
    Bytes trigger_size = 0;  // the smallest trigger in effect during the cycle
    Bytes max_wal_size = 0;
    std::int32_t count = 0;  // checkpoints between two looks come as one record
    CheckpointCause cause = CheckpointCause::kRequest;
};

struct CheckpointCounts {
    std::int64_t timed = 0;      // performed by the timer; ticks skipped on an idle server do not count
    std::int64_t requested = 0;  // all others, whatever their cause
    std::int64_t wal_forced = 0;
    std::int64_t stale = 0;

    std::int64_t effective() const noexcept { return timed + requested; }
    void Add(CheckpointCause cause, std::int64_t count) noexcept;
    void Add(const CheckpointCounts& other) noexcept;
};

struct WindowRecord {
    Timestamp start = 0;
    Timestamp end = 0;
    Micros length = 0;  // measured by the monotonic clock
    CheckpointCounts checkpoints;
    Bytes wal_bytes = 0;
    Bytes fpi_bytes = -1;  // -1: the server does not say
    Bytes max_wal_size = 0;
    double write_time = 0;  // milliseconds
    double sync_time = 0;   // milliseconds
    std::int64_t buffers_written = 0;
    Bytes clean_peak =
        -1;           // most WAL in any one checkpoint_timeout that ended in this window; -1 none measured
    Bytes peak = -1;  // the same, stretches with frequent checkpoints included: an upper bound
    bool in_recovery = false;
    Micros timeout = 0;  // checkpoint_timeout it was opened with; 0: by a version that did not keep it
    // What follows is -1 where the server does not say, or its counter was reset.
    Bytes stat_bytes = -1;         // WAL that the server's statistics account for; fpi_bytes is a part of it
    std::int64_t xids = -1;        // transaction ids used: transactions that wrote, and their subtransactions
    std::int64_t clean = -1;       // buffers written by the background writer
    std::int64_t maxwritten = -1;  // times that it stopped at bgwriter_lru_maxpages
    std::int64_t backend = -1;     // buffers written by backends
    std::int64_t backend_fsync = -1;
    std::int64_t completed = -1;  // checkpoints whose times are in write_time and sync_time
};

// The part of a window before a decision in it.
struct WindowPart {
    Micros length = -1;  // -1: by a version that did not keep it
    Bytes wal_bytes = 0;
    Bytes stat_bytes = -1;
    Bytes fpi_bytes = -1;
    std::int64_t xids = -1;
};

enum class Action : std::uint8_t { kGrow, kShrink, kHold, kExternal, kBlocked, kUndo, kResume };
enum class DecisionCause : std::uint8_t { kAnticipate, kThreshold, kRatio, kDisk, kIdle, kManual };
enum class Outcome : std::uint8_t { kNone, kPending, kEffective, kOverridden, kFailed, kDryRun };
enum class Limit : std::uint8_t { kMax, kDisk, kRecoveryTime };
const char* Name(Action action) noexcept;
const char* Name(DecisionCause cause) noexcept;
const char* Name(Outcome outcome) noexcept;  // nullptr for kNone
const char* Name(Limit limit) noexcept;

struct DecisionRecord {
    std::int64_t id = 0;
    Timestamp decided_at = 0;
    Bytes old_size = 0;
    Bytes new_size = 0;
    Bytes wanted_size = 0;  // before the ceiling and the step limit
    Bytes ceiling = 0;
    CheckpointCounts checkpoints;  // in the window that was open
    Bytes wal_bytes = 0;           // since the redo point
    double wal_rate = 0;           // bytes/s
    Action action = Action::kHold;
    DecisionCause cause = DecisionCause::kManual;
    Outcome outcome = Outcome::kNone;
    Limit limited_by = Limit::kMax;
    Reason reason;
    WindowPart window;  // of the window that was open
};

// A thirtieth of checkpoint_timeout, or a longer time in which next to nothing was written. Goes to the
// history file: append fields at the end. 32 bytes; sizes as float, which is exact to a ten-millionth.
struct WalBucket {
    Timestamp start = 0;
    float seconds = 0;
    float wal_bytes = 0;
    float since_redo = 0;        // bytes of WAL from the last redo point to the bucket's end
    float records = -1;          // WAL records; -1: the statistics do not tell
    float image_bytes = -1;      // full-page images as reported; -1: the statistics do not tell
    std::uint16_t moves = 0;     // of the redo point
    std::uint16_t requests = 0;  // of these by command: replayed as they were
};

// walsizer.stat
struct Totals {
    CheckpointCounts checkpoints;
    Bytes wal_bytes = 0;
    std::int64_t raised = 0;
    std::int64_t lowered = 0;
    std::int64_t failed = 0;
    std::int64_t decisions = 0;  // the last decision's id; survives reset()
    Timestamp stats_reset = 0;
};

struct Journal {
    Ring<DecisionRecord> decisions;
    Ring<WindowRecord> windows;
    Ring<CheckpointRecord> checkpoints;
    Totals& totals;
    Ring<WalBucket> buckets = {};
};

inline constexpr std::uint32_t kDecisionCapacity = 500;
inline constexpr std::uint32_t kCheckpointCapacity = 1000;
inline constexpr std::uint32_t kBucketsPerTimeout = 30;
// A day at the default checkpoint_timeout of 5 min, in buckets of 10 s; 276 kB.
inline constexpr std::uint32_t kBucketCapacity = 8640;

// Windows that speak for "lately": in need, in forced_ratio and in the ratio rule.
inline constexpr std::uint32_t kRecentWindows = 12;

}  // namespace walsizer
