// What lies in pg_wal and in its archive_status.
#pragma once

#include "compat.hpp"
#include "walsizer/units.hpp"

struct WalsizerSegments {
    XLogSegNo redo = 0;        // held is older than this one
    XLogSegNo oldest = 0;      // of the held ones; 0 when nothing is held: numbers start at 1
    walsizer::Bytes size = 0;  // all of pg_wal
    walsizer::Bytes held = 0;
};

struct WalsizerUnarchived {
    uint64 count = 0;
    XLogSegNo oldest = 0;
    char oldest_name[XLOG_FNAME_LEN + 1] = "";
};

// Both answer from memory while the directory is unchanged, and read it so seldom that this takes at most a
// thousandth of the time. False when it cannot be read, which is logged; never an ERROR.
bool walsizer_read_segments(XLogSegNo redo, WalsizerSegments* segments);

// The segments that are still to be archived, those older than `oldest_segment` left out: the .ready file of
// a segment that is gone holds nothing.
bool walsizer_read_unarchived(XLogSegNo oldest_segment, WalsizerUnarchived* unarchived);

// LOGs that `path` cannot be read, with errno as the reason; at most once an hour.
void walsizer_cannot_read(const char* path);
