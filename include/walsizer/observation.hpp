// One look at a server: everything the engine knows of it. Filled by the extension, the program or the
// simulator.
#pragma once

#include "walsizer/postgres_rules.hpp"
#include "walsizer/units.hpp"
#include "walsizer/volume.hpp"

namespace walsizer {

// The checkpointer's cumulative counters (pg_stat_bgwriter up to 16, pg_stat_checkpointer from 17). They lag
// behind the redo point, count ticks that were skipped for want of WAL, and can be reset at any moment.
struct CheckpointCounters {
    bool known = false;  // false: not read at this look
    std::int64_t timed = 0;
    std::int64_t requested = 0;
    double write_time = 0;  // milliseconds
    double sync_time = 0;   // milliseconds
    std::int64_t buffers_written = 0;
    Timestamp reset_at = 0;
};

// Cumulative WAL statistics (pg_stat_wal, 14 and later). A statement's share appears when it ends.
struct WalStatistics {
    bool known = false;
    Bytes bytes = 0;
    Bytes fpi_bytes = 0;  // full-page images; up to 18 their number times the block size, an upper bound
    std::int64_t records = 0;
};

// Who else writes buffers (pg_stat_bgwriter, from 16 on also pg_stat_io). Cumulative, reset at any moment.
struct BufferCounters {
    bool known = false;
    std::int64_t clean = 0;       // written by the background writer
    std::int64_t maxwritten = 0;  // times that it stopped at bgwriter_lru_maxpages
    // Written by backends for want of a clean one. Up to 15 relation extension and bulk loads are part of it.
    std::int64_t backend = 0;
    std::int64_t backend_fsync = 0;  // files that backends had to fsync by themselves
};

struct Observation {
    Micros now = 0;  // monotonic
    Timestamp wall = 0;
    Timestamp server_start = 0;  // tells a restart of the server from a restart of the observer
    Lsn position = 0;            // end of WAL: inserted on a primary, replayed in recovery
    Lsn redo = 0;                // redo point of the latest checkpoint or restartpoint, started or completed
    Micros redo_age =
        -1;  // how long ago that checkpoint, or the server, started; -1 unknown. First look only.
    bool in_recovery = false;
    ServerSettings server;
    CheckpointCounters counters;
    WalStatistics wal;
    BufferCounters buffers;
    std::int64_t next_xid = -1;  // the next full transaction id; -1: not known
    // In recovery: replay keeps up with the primary, so that replayed WAL is WAL just written. Catch-up is
    // not.
    bool replay_current = false;
    VolumeFacts volume;  // known only at looks that read it
};

// Whether a server can be in this state at all, `now` not before `latest`. The engine's arithmetic relies on
// it; what is not plausible is not looked at.
bool IsPlausible(const Observation& seen, Micros latest) noexcept;

}  // namespace walsizer
