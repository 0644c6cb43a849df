// PostgreSQL 13 to 19 behind one face. PG_VERSION_NUM appears in this header and nowhere else; each wrapper
// says what differs.
#pragma once

#include "pg.hpp"

#if PG_VERSION_NUM < 130000
#error "walsizer supports PostgreSQL 13 and later"
#endif

extern "C" {
#if PG_VERSION_NUM >= 150000
#include "access/xlogrecovery.h"  // GetXLogReplayRecPtr() was in xlog.h up to 14
#endif
#if PG_VERSION_NUM >= 140000
#include "utils/wait_event.h"  // part of pgstat.h in 13
#endif
#if PG_VERSION_NUM >= 170000
#include "postmaster/walsummarizer.h"  // the summarizer came with 17
#endif
}

#include "walsizer/observation.hpp"

// The library's magic. 18 lets a library tell its name and version (pg_get_loaded_modules()).
#if PG_VERSION_NUM >= 180000
#define WALSIZER_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "walsizer", .version = WALSIZER_VERSION)
#else
#define WALSIZER_MODULE_MAGIC PG_MODULE_MAGIC
#endif

// Reading statistics: 15 keeps them in shared memory. Up to 14 each read by a process without a database
// loads every database's table statistics and makes the collector write them, so a look there must not read
// them every time.
inline constexpr bool walsizer_statistics_are_cheap = PG_VERSION_NUM >= 150000;

// Shared memory is asked for in a hook from 15 on, and in _PG_init() before.
#if PG_VERSION_NUM >= 150000
#define WALSIZER_HAS_SHMEM_REQUEST_HOOK 1
#else
#define WALSIZER_HAS_SHMEM_REQUEST_HOOK 0
#endif

// Handlers take more than the signal's number from 19 on, so C's SIG_IGN has the wrong type there. Its macro
// casts between function types, which clang warns of from 16 on.
static inline void walsizer_ignore_signal(int signal_number) {
#ifdef PG_SIG_IGN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
    pqsignal(signal_number, PG_SIG_IGN);
#pragma GCC diagnostic pop
#else
    pqsignal(signal_number, SIG_IGN);
#endif
}

// Misspelled walsizer.* settings: 15 reserves the prefix, 13 and 14 only warn.
static inline void walsizer_reserve_prefix(const char* prefix) {
#if PG_VERSION_NUM >= 150000
    MarkGUCPrefixReserved(prefix);
#else
    EmitWarningsOnPlaceholders(prefix);
#endif
}

// Our name in pg_stat_activity.wait_event: custom names exist from 17 on.
static inline uint32 walsizer_wait_event() {
#if PG_VERSION_NUM >= 170000
    static uint32 wait_event = 0;
    if (wait_event == 0) wait_event = WaitEventExtensionNew("WalsizerMain");
    return wait_event;
#else
    return PG_WAIT_EXTENSION;
#endif
}

// One raw statement: the parser got a mode argument in 14.
static inline Node* walsizer_parse_one(const char* statement) {
#if PG_VERSION_NUM >= 140000
    List* statements = raw_parser(statement, RAW_PARSE_DEFAULT);
#else
    List* statements = raw_parser(statement);
#endif
    return linitial_node(RawStmt, statements)->stmt;
}

// A setting's record (source, file, line): a sorted array up to 15, a hash table behind find_option() from 16
// on.
static inline struct config_generic* walsizer_find_setting(const char* name) {
#if PG_VERSION_NUM >= 160000
    return find_option(name, false, true, 0);
#else
    struct config_generic** settings = get_guc_variables();
    for (int i = 0; i < GetNumConfigOptions(); i++)
        if (pg_strcasecmp(settings[i]->name, name) == 0) return settings[i];
    return NULL;
#endif
}

// Whether ALTER SYSTEM is allowed at all: a setting of 17.
static inline bool walsizer_alter_system_is_allowed() {
#if PG_VERSION_NUM >= 170000
    return AllowAlterSystem;
#else
    return true;
#endif
}

// stats_fetch_consistency exists from 15 on; with "snapshot" each read would copy every object's statistics.
static inline void walsizer_read_statistics_singly() {
#if PG_VERSION_NUM >= 150000
    SetConfigOption("stats_fetch_consistency", "none", PGC_USERSET, PGC_S_OVERRIDE);
#endif
}

// The checkpointer's counters. 13, 14: one global struct of the collector; 15, 16: their own struct, but the
// reset time stands with the background writer's; 17 renames the fields and adds the reset time.
static inline void walsizer_read_counters(walsizer::CheckpointCounters* counters) {
    counters->known = true;
#if PG_VERSION_NUM >= 170000
    const PgStat_CheckpointerStats* stats = pgstat_fetch_stat_checkpointer();
    counters->timed = stats->num_timed;
    counters->requested = stats->num_requested;
    counters->write_time = (double)stats->write_time;
    counters->sync_time = (double)stats->sync_time;
    counters->buffers_written = stats->buffers_written;
    counters->reset_at = stats->stat_reset_timestamp;
#elif PG_VERSION_NUM >= 150000
    const PgStat_CheckpointerStats* stats = pgstat_fetch_stat_checkpointer();
    counters->timed = stats->timed_checkpoints;
    counters->requested = stats->requested_checkpoints;
    counters->write_time = (double)stats->checkpoint_write_time;
    counters->sync_time = (double)stats->checkpoint_sync_time;
    counters->buffers_written = stats->buf_written_checkpoints;
    counters->reset_at = pgstat_fetch_stat_bgwriter()->stat_reset_timestamp;
#else
    const PgStat_GlobalStats* stats = pgstat_fetch_global();
    counters->timed = stats->timed_checkpoints;
    counters->requested = stats->requested_checkpoints;
    counters->write_time = (double)stats->checkpoint_write_time;
    counters->sync_time = (double)stats->checkpoint_sync_time;
    counters->buffers_written = stats->buf_written_checkpoints;
    counters->reset_at = stats->stat_reset_timestamp;
#endif
}

// WAL statistics: from 14 on; nested from 18 on; 19 counts the bytes of full-page images, the others only
// their number, which times the block size is an upper bound (holes are left out, compression is not seen).
inline constexpr bool walsizer_fpi_bytes_are_exact = PG_VERSION_NUM >= 190000;
static inline void walsizer_read_wal_statistics(walsizer::WalStatistics* wal) {
#if PG_VERSION_NUM >= 190000
    const PgStat_WalCounters* stats = &pgstat_fetch_stat_wal()->wal_counters;
    *wal = {true, (walsizer::Bytes)stats->wal_bytes, (walsizer::Bytes)stats->wal_fpi_bytes,
            (int64)stats->wal_records};
#elif PG_VERSION_NUM >= 180000
    const PgStat_WalCounters* stats = &pgstat_fetch_stat_wal()->wal_counters;
    *wal = {true, (walsizer::Bytes)stats->wal_bytes, (walsizer::Bytes)stats->wal_fpi * BLCKSZ,
            (int64)stats->wal_records};
#elif PG_VERSION_NUM >= 140000
    const PgStat_WalStats* stats = pgstat_fetch_stat_wal();
    *wal = {true, (walsizer::Bytes)stats->wal_bytes, (walsizer::Bytes)stats->wal_fpi * BLCKSZ,
            (int64)stats->wal_records};
#else
    wal->known = false;
#endif
}

// Writers of buffers besides the checkpointer. 13, 14: in the collector's global struct; 15: backends stand
// with the checkpointer, the background writer apart. Up to 15 what backends write includes relation
// extension and bulk loads; pg_stat_io of 16 and later tells them apart. Up to 16 the fsyncs are those that
// backends had to do because the checkpointer's queue was full; from 17 on pg_stat_io also counts those that
// CREATE INDEX and the like always do.
inline constexpr bool walsizer_backend_writes_are_exact = PG_VERSION_NUM >= 160000;
inline constexpr bool walsizer_backend_fsyncs_are_exact = PG_VERSION_NUM < 170000;
#if PG_VERSION_NUM >= 160000
static inline int64 walsizer_backend_io(const PgStat_IO* io, IOOp operation) {
    return io->stats[B_BACKEND].counts[IOOBJECT_RELATION][IOCONTEXT_NORMAL][operation] +
           io->stats[B_BG_WORKER].counts[IOOBJECT_RELATION][IOCONTEXT_NORMAL][operation];
}
#endif
static inline void walsizer_read_buffer_counters(walsizer::BufferCounters* buffers) {
    buffers->known = true;
#if PG_VERSION_NUM >= 150000
    const PgStat_BgWriterStats* writer = pgstat_fetch_stat_bgwriter();
    buffers->clean = writer->buf_written_clean;
    buffers->maxwritten = writer->maxwritten_clean;
#else
    const PgStat_GlobalStats* stats = pgstat_fetch_global();
    buffers->clean = stats->buf_written_clean;
    buffers->maxwritten = stats->maxwritten_clean;
    buffers->backend = stats->buf_written_backend;
    buffers->backend_fsync = stats->buf_fsync_backend;
#endif
#if PG_VERSION_NUM >= 160000
    const PgStat_IO* io = pgstat_fetch_stat_io();
    buffers->backend = walsizer_backend_io(io, IOOP_WRITE);
    buffers->backend_fsync = walsizer_backend_io(io, IOOP_FSYNC);
#endif
#if PG_VERSION_NUM >= 150000 && PG_VERSION_NUM < 170000
    const PgStat_CheckpointerStats* checkpointer = pgstat_fetch_stat_checkpointer();
    if (!walsizer_backend_writes_are_exact) buffers->backend = checkpointer->buf_written_backend;
    buffers->backend_fsync = checkpointer->buf_fsync_backend;
#endif
}

// ---- Who keeps WAL ----

// How many entries the array of replication slots has: 19 sets some apart for REPACK, behind the others.
static inline int walsizer_slot_capacity() {
#if PG_VERSION_NUM >= 190000
    return max_replication_slots + max_repack_replication_slots;
#else
    return max_replication_slots;
#endif
}

// The oldest position a slot keeps WAL for, or none; under the slot's mutex. Losing its WAL clears
// restart_lsn. From 16 on a slot may be invalidated for other reasons, too, and then keeps nothing; from 18
// on a persistent slot keeps what its last written state asks for
// (slot.c:ReplicationSlotsComputeRequiredLSN()).
static inline XLogRecPtr walsizer_slot_position(const ReplicationSlot* slot) {
#if PG_VERSION_NUM >= 160000
    if (slot->data.invalidated != RS_INVAL_NONE) return InvalidXLogRecPtr;
#endif
#if PG_VERSION_NUM >= 180000
    if (slot->data.persistency == RS_PERSISTENT && slot->last_saved_restart_lsn != InvalidXLogRecPtr &&
        slot->last_saved_restart_lsn < slot->data.restart_lsn)
        return slot->last_saved_restart_lsn;
#endif
    return slot->data.restart_lsn;
}

// How far WAL is summarized, or none; the summarizer came with 17. GetOldestUnsummarizedLSN() would answer
// the same, but until the summarizer has started it reads files and may raise an ERROR.
static inline XLogRecPtr walsizer_summarized_position() {
#if PG_VERSION_NUM >= 170000
    if (!summarize_wal) return InvalidXLogRecPtr;
    TimeLineID timeline;
    XLogRecPtr summarized;
    XLogRecPtr pending;
    int pid;
    GetWalSummarizerState(&timeline, &summarized, &pending, &pid);
    return summarized;
#else
    return InvalidXLogRecPtr;
#endif
}
