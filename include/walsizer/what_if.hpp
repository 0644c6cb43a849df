// What another max_wal_size would have done: recorded WAL, replayed through the checkpointer on paper.
//
// WAL without images is taken as it was written; images are written anew, by the curve that the server's own
// cycles showed, from each redo point of the replay. Pure, without allocation. One size costs a microsecond
// or two for each bucket and each checkpoint: 10 to 70 ms for a day; the fit of the curve a tenth of one.
#pragma once

#include "walsizer/text.hpp"
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

// Cycles up to four times the longest one on record are predicted, and what rounding to segments adds;
// beyond, the curve of images is not known and the row is an upper bound.
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

// Whether the record tells full-page images. Where it does not, WAL is replayed as it was: any size but the
// present one is a bound.
bool ImagesAreKnown(const RecordSummary& record, const FirstTouchCurve& curve) noexcept;

// The sizes that a table of answers marks.
struct MarkedSizes {
    Bytes present = 0;
    Bytes recommended = 0;
};

// Doubling sizes from 256 MB to the ceiling, the present and the recommended size: each once, and rising.
struct SizeLadder {
    static constexpr unsigned kMost = 64;

    Bytes sizes[kMost] = {};
    unsigned count = 0;
};
SizeLadder LadderOf(const ServerSettings& server, const MarkedSizes& marked, Bytes ceiling) noexcept;

// Adds to a row what it is: the present size, the recommended one, a bound and of what kind. `images_unknown`
// ("the log does not tell full-page images") tells why they are not; nullptr where they are known.
Reason ExplainRow(const MarkedSizes& marked, const RecordSummary& record, const char* images_unknown,
                  WhatIfRow& row) noexcept;

}  // namespace walsizer
