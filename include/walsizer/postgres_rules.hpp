// PostgreSQL's own arithmetic of checkpoints, mirrored. Each function names what it mirrors; the rules are
// identical in PostgreSQL 13 to 19.
#pragma once

#include "walsizer/units.hpp"

namespace walsizer {

// What the server runs with. All of it can change at a reload, the segment size only by initdb or
// pg_resetwal.
struct ServerSettings {
    Bytes max_wal_size = kGiB;
    Bytes segment_size = 16 * kMiB;
    double completion_target = 0.9;  // checkpoint_completion_target, 0..1
    Micros checkpoint_timeout = 5 * kMinute;
};

// CheckPointSegments: segments of WAL since the redo point that make a backend ask for a checkpoint. At
// least 1. Mirrors xlog.c:CalculateCheckpointSegments(): whole segments first, then the division, then
// truncation.
std::int64_t CheckpointSegments(Bytes max_wal_size, const ServerSettings& server) noexcept;
inline std::int64_t CheckpointSegments(const ServerSettings& server) noexcept {
    return CheckpointSegments(server.max_wal_size, server);
}

// The same in bytes: the distance at which a checkpoint is forced at the latest.
Bytes TriggerSize(Bytes max_wal_size, const ServerSettings& server) noexcept;

// WAL since the redo point after which a paced checkpoint is written at the latest; the next one starts no
// sooner. Mirrors checkpointer.c:IsCheckpointOnSchedule(), which asks with the present max_wal_size at each
// page.
Bytes PacedSize(Bytes max_wal_size, const ServerSettings& server) noexcept;

// Whether a checkpoint whose redo point is `redo` was due by WAL volume when it came. Mirrors
// xlog.c:XLogCheckpointNeeded(), which XLogWrite() asks with the segment just finished.
bool ReachedTrigger(Lsn old_redo, Lsn redo, std::int64_t segments, Bytes segment_size) noexcept;

// Where WAL reaches the trigger: the end of the segment whose completion asks for the checkpoint.
Lsn TriggerPosition(Lsn redo, std::int64_t segments, Bytes segment_size) noexcept;

// The smallest max_wal_size at which `distance` bytes of WAL after any redo point force no checkpoint, in
// whole segments. The inverse of CheckpointSegments(), plus one segment because redo may lie at a segment's
// end.
Bytes SizeForDistance(double distance, const ServerSettings& server) noexcept;

// max_wal_size below two segments is accepted by a reload and fatal at the next start
// (xlog.c:ReadControlFile()).
inline Bytes SmallestMaxWalSize(const ServerSettings& server) noexcept {
    return 2 * server.segment_size;
}

// Rounds up to whole segments, within what PostgreSQL accepts.
Bytes RoundUpToSegments(double size, const ServerSettings& server) noexcept;
Bytes RoundDownToSegments(Bytes size, const ServerSettings& server) noexcept;

}  // namespace walsizer
