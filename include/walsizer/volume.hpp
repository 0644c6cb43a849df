// The volume that pg_wal lies on, and what keeps WAL on it.
#pragma once

#include "walsizer/text.hpp"
#include "walsizer/units.hpp"

namespace walsizer {

// Who keeps segments that checkpoints would otherwise remove or recycle (xlog.c:KeepLogSeg(),
// RemoveOldXlogFiles()).
enum class Holder : std::uint8_t {
    kNone,
    kKeepSize,    // wal_keep_size: bounded
    kSlot,        // a replication slot: bounded only with max_slot_wal_keep_size
    kArchiver,    // segments not yet archived: unbounded
    kSummarizer,  // WAL not yet summarized (17 and later): unbounded
};

struct HeldWal {
    Bytes bytes = 0;  // segments older than the last completed checkpoint's redo point
    Holder holder = Holder::kNone;
    bool bounded = true;  // the holder cannot grow beyond a setting
    Text<128> name;  // "replication slot standby1", "archiver (12 segments not archived)", "wal_keep_size"
};

struct VolumeFacts {
    bool known = false;      // false: could not be read, or not read at this look
    Bytes size = 0;          // of the file system
    Bytes free = 0;          // available to the server's user (f_bavail)
    Bytes wal_dir_size = 0;  // all of pg_wal: segments in use, recycled ones and archive_status
    HeldWal held;
};

}  // namespace walsizer
