// The what-if table: WAL on record, replayed by the engine at other sizes.
#pragma once

#include "cli/advice.hpp"
#include "walsizer/limits.hpp"
#include "walsizer/what_if.hpp"

namespace walsizer::cli {

struct WalRecord {
    Ring<WalBucket> buckets;
    FirstTouchCurve curve;           // unknown where the source does not tell full-page images
    std::string why_images_unknown;  // "the log does not tell full-page images"
    std::string note;  // sentence: what the source does not show of the WAL's pace; may be empty
};

// Sizes up to the first beyond the present and the recommended one that forces nothing. No sizes, and a note
// that says why, while there is less than one checkpoint_timeout on record. advice.recommendation is known.
WhatIfTable ReplayAtOtherSizes(const WalRecord& record, const LimitFacts& limits, const ServerAdvice& advice);

}  // namespace walsizer::cli
