// PostgreSQL 13 to 19: who keeps WAL. As compat.hpp, of which this is a part.
#pragma once

#include "pg.hpp"

extern "C" {
#include "access/xlog_internal.h"
#include "replication/slot.h"
#if PG_VERSION_NUM >= 170000
#include "postmaster/walsummarizer.h"
#endif
}

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
