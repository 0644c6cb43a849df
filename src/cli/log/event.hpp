// What one log line says about checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/advice.hpp"

namespace walsizer::cli {

enum class EventKind : std::uint8_t {
    kNone,
    kStart,         // checkpoint or restartpoint starting
    kComplete,      // checkpoint or restartpoint complete
    kFrequent,      // checkpoints are occurring too frequently
    kHint,          // the hint that goes with it
    kSetting,       // a reload changed a setting
    kVersion,       // starting PostgreSQL 15.4
    kReady,         // ready to accept connections
    kRedoStart,     // recovery
    kRedoProgress,  //
    kRedoDone,      //
};

enum class SettingName : std::uint8_t { kMaxWalSize, kCheckpointTimeout, kCompletionTarget };

struct CheckpointFigures {
    Bytes distance = -1;
    bool distance_cut = false;  // the line ends inside the figure
    Lsn redo = 0;
    Micros write = -1;
    Micros sync = -1;
    Micros total = -1;
    Micros longest_sync = -1;
    std::int64_t buffers = -1;
    std::int64_t files_gone = -1;  // WAL files removed or recycled
};

struct Event {
    EventKind kind = EventKind::kNone;
    std::optional<Instant> at;
    std::int64_t pid = 0;
    std::string server;  // what the prefix says about whose line this is
    bool rds = false;    // Amazon RDS writes its own prefix
    bool restartpoint = false;
    Cause cause = Cause::kUnknown;  // by the flags, where the line has them
    std::int64_t seconds = -1;      // kFrequent: since the checkpoint before; -1 cut off
    CheckpointFigures figures;      // kComplete
    bool old_format = false;        // "transaction log file(s)": 9.6 or older
    SettingName setting = SettingName::kMaxWalSize;
    double value = 0;            // kSetting: bytes, microseconds or the target; negative: back to default
    int major = 0;               // kVersion
    Lsn lsn = 0;                 // kRedo*
    Micros elapsed = -1;         // kRedoProgress
    std::uint64_t identity = 0;  // of the line, to find copies of it; 0: it has no date to be found by
};

}  // namespace walsizer::cli
