#include "cli/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

WhatIfSize AsRow(const WhatIfRow& row, const Reason& note, double hours, const LimitFacts& limits) {
    const double all = row.timed + row.forced + row.requested;
    const Micros longest = limits.settings.max_recovery_time;
    WhatIfSize size;
    size.max_wal_size = row.max_wal_size;
    size.trigger_size = row.trigger_size;
    size.timed_per_hour = row.timed / hours;
    size.forced_per_hour = row.forced / hours;
    if (all > 0) size.forced_ratio = row.forced / all;
    size.wal_per_hour = static_cast<Bytes>(row.wal_bytes / hours);
    size.is_bound = row.is_bound;
    size.recovery_estimate = limits.recovery.Estimate(row.max_wal_size);
    if (limits.volume.known) size.fits_disk = row.max_wal_size <= DiskCeiling(limits);
    size.fits_recovery_time = longest == 0 || row.max_wal_size <= limits.recovery.SizeWithin(longest);
    size.note = note.c_str();
    return size;
}

}  // namespace

WhatIfTable ReplayAtOtherSizes(const WalRecord& record, const LimitFacts& limits,
                               const ServerAdvice& advice) {
    WhatIfTable table;
    ServerSettings server = limits.server;
    const RecordSummary seen = Summarize(record.buckets, 0);
    const auto time = static_cast<Micros>(seen.seconds * kSecond);
    if (time < server.checkpoint_timeout) {
        table.note = fmt::format(
            "Too little to replay at other sizes: {} of WAL on record, and one checkpoint_timeout ({}) is "
            "the "
            "least.",
            TimeForPeople(time), TimeSetting(server.checkpoint_timeout));
        return table;
    }
    if (!(seen.wal_bytes > 0)) {
        table.note = "No WAL was written: any size would have done the same.";
        return table;
    }
    table.note = record.note;
    const MarkedSizes marked = {server.max_wal_size, advice.recommendation.size};
    const bool known = ImagesAreKnown(seen, record.curve);
    const SizeLadder ladder = LadderOf(server, marked, PresentCeiling(limits).size);
    for (unsigned i = 0; i < ladder.count; ++i) {
        server.max_wal_size = ladder.sizes[i];
        WhatIfRow row = walsizer::WhatIf(server, record.buckets, seen, record.curve);
        const Reason note =
            ExplainRow(marked, seen, known ? nullptr : record.why_images_unknown.c_str(), row);
        table.sizes.push_back(AsRow(row, note, seen.seconds * kSecond / kHour, limits));
        // Still larger ones would have done the same.
        if (!(row.forced > 0) && row.max_wal_size > std::max(marked.present, marked.recommended)) break;
    }
    return table;
}

}  // namespace walsizer::cli
