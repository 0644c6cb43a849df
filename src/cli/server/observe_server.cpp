#include "cli/server/observe_server.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cli/quantity.hpp"
#include "cli/server/interrupt.hpp"

namespace walsizer::cli {

namespace {

constexpr int kHasWalStatistics = 140000;
constexpr int kHasBackendIo = 160000;
constexpr int kHasCheckpointerView = 170000;
constexpr int kHasImageBytes = 190000;

// Microseconds since 2000-01-01, PostgreSQL's epoch.
std::string Micros2000(const std::string& timestamp) {
    return fmt::format("((pg_catalog.date_part('epoch', {}) - 946684800) * 1000000)::pg_catalog.int8",
                       timestamp);
}

std::string ControlColumns() {
    return fmt::format(", c.redo_lsn, {} AS checkpoint_time", Micros2000("c.checkpoint_time"));
}

std::string CounterColumns(int version) {
    const std::string reset = Micros2000("k.stats_reset");
    if (version >= kHasCheckpointerView)
        return fmt::format(
            ", k.num_timed, k.num_requested, k.write_time, k.sync_time, k.buffers_written, {} AS reset_at",
            reset);
    return fmt::format(
        ", k.checkpoints_timed AS num_timed, k.checkpoints_req AS num_requested, k.checkpoint_write_time AS "
        "write_time, k.checkpoint_sync_time AS sync_time, k.buffers_checkpoint AS buffers_written, {} AS "
        "reset_at",
        reset);
}

std::string WalColumns(int version) {
    // Up to 18 images are counted, not measured: an upper bound.
    const char* images = version >= kHasImageBytes
                             ? "w.wal_fpi_bytes"
                             : "w.wal_fpi * pg_catalog.current_setting('block_size')::pg_catalog.int8";
    return fmt::format(", w.wal_bytes, w.wal_records, {} AS wal_fpi_bytes", images);
}

// Who else writes buffers. pg_stat_io, from 16 on, tells backends from relation extension and bulk loads.
std::string WriterColumns(int version) {
    const std::string own = ", b.buffers_clean, b.maxwritten_clean";
    if (version < kHasBackendIo) return own + ", b.buffers_backend, b.buffers_backend_fsync";
    const auto io = [](const char* column) {
        return fmt::format(
            "(SELECT pg_catalog.sum(i.{}) FROM pg_catalog.pg_stat_io i WHERE i.backend_type IN ('client "
            "backend', 'background worker') AND i.object = 'relation' AND i.context = 'normal')",
            column);
    };
    const std::string fsyncs = version < kHasCheckpointerView ? "b.buffers_backend_fsync" : io("fsyncs");
    return fmt::format("{}, {} AS buffers_backend, {} AS buffers_backend_fsync", own, io("writes"), fsyncs);
}

const char* CounterView(int version) {
    return version >= kHasCheckpointerView ? "pg_catalog.pg_stat_checkpointer"
                                           : "pg_catalog.pg_stat_bgwriter";
}

bool Readable(Connection& connection, const std::string& statement) {
    try {
        connection.Query(statement);
        return true;
    } catch (const StatementFailed&) {
        return false;
    }
}

Bytes SizeOf(const Rows& rows, const char* name) {
    Bytes size = 0;
    ParseSize(rows.Get(name).value_or(""), 1, size);
    return size;
}

bool ReplayIsCurrent(const Rows& rows, const Observation& seen) {
    // The last commit that was replayed is fresh, or nothing received is left to replay (an idle primary).
    constexpr Micros kFresh = 5 * kSecond;
    const Lsn received = ParseLsn(rows.Get("received").value_or(""));
    if (received != 0 && seen.position >= received) return true;
    const auto commit = rows.Get("last_commit");
    return commit && seen.wall - rows.Integer("last_commit") < kFresh;
}

}  // namespace

Lsn ParseLsn(const std::string& text) {
    unsigned high = 0;
    unsigned low = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "%8x/%8x%n", &high, &low, &used) != 2) return 0;
    if (static_cast<std::size_t>(used) != text.size()) return 0;
    return (static_cast<Lsn>(high) << 32) | low;
}

Sight FindSight(Connection& connection) {
    Sight sight;
    const int version = connection.version();
    sight.redo = Readable(connection, "SELECT redo_lsn FROM pg_catalog.pg_control_checkpoint()");
    sight.counters = Readable(connection, fmt::format("SELECT 1 FROM {}", CounterView(version)));
    sight.wal_statistics =
        version >= kHasWalStatistics && Readable(connection, "SELECT wal_bytes FROM pg_catalog.pg_stat_wal");
    sight.wal_directory = Readable(connection, "SELECT 1 FROM pg_catalog.pg_ls_waldir() LIMIT 1");
    if (!sight.redo)
        sight.missing.push_back(
            "pg_control_checkpoint() is not readable: how much WAL each checkpoint followed cannot be told, "
            "so requested checkpoints have no cause.");
    if (!sight.counters)
        sight.missing.push_back(fmt::format("{} is not readable: causes rest on WAL volume and time alone.",
                                            CounterView(version)));
    if (!sight.wal_directory)
        sight.missing.push_back(
            "The size of pg_wal is not visible to this role (pg_monitor sees it): a disk ceiling counts on "
            "the free space alone.");
    return sight;
}

std::string LookStatement(int version, const Sight& sight) {
    // Every name is qualified: whatever search_path the role has, these are PostgreSQL's own.
    std::string columns =
        "SELECT pg_catalog.pg_is_in_recovery() AS in_recovery, "
        "CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() "
        "ELSE pg_catalog.pg_current_wal_insert_lsn() END AS position, "
        "pg_catalog.pg_last_wal_receive_lsn() AS received, " +
        Micros2000("pg_catalog.pg_last_xact_replay_timestamp()") + " AS last_commit, " +
        Micros2000("pg_catalog.clock_timestamp()") + " AS wall, " +
        Micros2000("pg_catalog.pg_postmaster_start_time()") +
        " AS server_start, "
        "pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) AS next_xid, "
        "pg_catalog.current_setting('max_wal_size') AS max_wal_size, "
        "pg_catalog.current_setting('wal_segment_size') AS wal_segment_size, "
        "pg_catalog.current_setting('checkpoint_timeout') AS checkpoint_timeout, "
        "pg_catalog.current_setting('checkpoint_completion_target') AS completion_target";
    std::string from;
    const auto join = [&from](const std::string& source) {
        from += (from.empty() ? " FROM " : ", ") + source;
    };
    if (sight.redo) {
        columns += ControlColumns();
        join("pg_catalog.pg_control_checkpoint() c");
    }
    if (sight.counters) {
        columns += CounterColumns(version);
        join(std::string(CounterView(version)) + " k");
        columns += WriterColumns(version);
        join("pg_catalog.pg_stat_bgwriter b");
    }
    if (sight.wal_statistics) {
        columns += WalColumns(version);
        join("pg_catalog.pg_stat_wal w");
    }
    return columns + from;
}

Sample Look(Connection& connection, const Sight& sight) {
    const Micros before = MonotonicNow();
    const Rows rows = connection.Query(LookStatement(connection.version(), sight));
    Sample sample;
    Observation& seen = sample.seen;
    seen.now = before + (MonotonicNow() - before) / 2;
    seen.wall = rows.Integer("wall");
    seen.server_start = rows.Integer("server_start");
    seen.in_recovery = rows.Flag("in_recovery");
    seen.next_xid = rows.Integer("next_xid", 0, -1);
    seen.position = ParseLsn(rows.Get("position").value_or(""));
    seen.server.max_wal_size = SizeOf(rows, "max_wal_size");
    seen.server.segment_size = SizeOf(rows, "wal_segment_size");
    seen.server.completion_target = rows.Number("completion_target");
    ParseTime(rows.Get("checkpoint_timeout").value_or(""), kSecond, seen.server.checkpoint_timeout);
    seen.replay_current = seen.in_recovery && ReplayIsCurrent(rows, seen);
    if (sight.redo) {
        sample.completed_redo = ParseLsn(rows.Get("redo_lsn").value_or(""));
        sample.completed_at = rows.Integer("checkpoint_time");
    }
    if (sight.counters) {
        seen.counters.known = true;
        seen.counters.timed = rows.Integer("num_timed");
        seen.counters.requested = rows.Integer("num_requested");
        seen.counters.write_time = rows.Number("write_time");
        seen.counters.sync_time = rows.Number("sync_time");
        seen.counters.buffers_written = rows.Integer("buffers_written");
        seen.counters.reset_at = rows.Integer("reset_at");
        seen.buffers.known = true;
        seen.buffers.clean = rows.Integer("buffers_clean");
        seen.buffers.maxwritten = rows.Integer("maxwritten_clean");
        seen.buffers.backend = rows.Integer("buffers_backend");
        seen.buffers.backend_fsync = rows.Integer("buffers_backend_fsync");
    }
    if (sight.wal_statistics) {
        seen.wal.known = true;
        seen.wal.bytes = rows.Integer("wal_bytes");
        seen.wal.fpi_bytes = rows.Integer("wal_fpi_bytes");
        seen.wal.records = rows.Integer("wal_records");
    }
    return sample;
}

Bytes WalDirectorySize(Connection& connection, const Sight& sight) {
    if (!sight.wal_directory) return 0;
    try {
        return connection
            .Query("SELECT pg_catalog.sum(size)::pg_catalog.int8 AS size FROM pg_catalog.pg_ls_waldir()")
            .Integer("size");
    } catch (const std::runtime_error&) {
        return 0;
    }
}

}  // namespace walsizer::cli
