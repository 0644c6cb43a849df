// What another max_wal_size would have done: recorded WAL, replayed through the checkpointer on paper.
//
// WAL without images is taken as it was written; images are written anew, by the curve that the server's own
// cycles showed, from each redo point of the replay. Pure, without allocation. One size costs a microsecond or
// two for each bucket and each checkpoint: 10 to 70 ms for a day; the fit of the curve a tenth of one.
#pragma once

#include "walsizer/wal_record.hpp"

namespace walsizer {

// The part of the record that is replayed.
struct RecordSummary {
    std::uint32_t buckets = 0;  // the newest ones
    double seconds = 0;
    double wal_bytes = 0;
    double covered = 0;        // share of the WAL whose images are known
    double largest_cycle = 0;  // bytes between two redo points, the open cycle included
};

// Buckets that end after `since`; 0: all.
RecordSummary Summarize(const Ring<WalBucket>& buckets, Timestamp since) noexcept;

// Fewer buckets than this are no history yet.
inline constexpr std::uint32_t kFewestBuckets = kBucketsPerTimeout;

// Cycles up to four times the longest one on record are predicted, and what rounding to segments adds; beyond,
// the curve of images is not known and the row is an upper bound.
inline constexpr double kPredictable = 4.4;

struct WhatIfRow {
    Bytes max_wal_size = 0;
    Bytes trigger_size = 0;
    double timed = 0;  // checkpoints in the time of the record
    double forced = 0;
    double requested = 0;
    double wal_bytes = 0;
    double largest_cycle = 0;
    bool is_bound = false;  // forced and wal_bytes are at most this
};

// `server` with the max_wal_size to try; the rest as it is now.
WhatIfRow WhatIf(const ServerSettings& server, const Ring<WalBucket>& buckets, const RecordSummary& record,
                 const FirstTouchCurve& curve) noexcept;

}  // namespace walsizer
