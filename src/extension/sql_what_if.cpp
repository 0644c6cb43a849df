// walsizer.what_if(): the record of WAL, replayed at other sizes.
#include "apply.hpp"
#include "module.hpp"
#include "rows.hpp"
#include "shared_state.hpp"
#include "walsizer/what_if.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_what_if);
}

// What the replay needs, copied under the lock at one moment; the replay itself runs without it.
struct WhatIfBasis {
    bool started;
    walsizer::ServerSettings server;
    walsizer::Bytes recommended;
    walsizer::Bytes ceiling;
    walsizer::LimitFacts limits;
    walsizer::ImageProfile images;
    uint64 written;
    walsizer::WalBucket* buckets;
    walsizer::Ring<walsizer::WalBucket> ring;
    walsizer::RecordSummary record;
    walsizer::FirstTouchCurve curve;
};

static WhatIfBasis* walsizer_take_record() {
    WhatIfBasis* basis = (WhatIfBasis*)palloc0(sizeof(WhatIfBasis));
    basis->buckets = (walsizer::WalBucket*)palloc(walsizer::kBucketCapacity * sizeof(walsizer::WalBucket));
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Tuner& tuner = walsizer_shared->tuner;
    const walsizer::Journal journal = walsizer_journal();
    basis->started = walsizer_shared->loaded && tuner.tracker().started();
    if (basis->started) {
        basis->server = tuner.tracker().latest().server;
        basis->recommended = tuner.Recommended(journal);
        basis->ceiling = tuner.ceiling().size;
        basis->limits = tuner.limit_facts();
        basis->images = tuner.tracker().images();
        basis->written = journal.buckets.size();
        for (uint32 age = 0; age < journal.buckets.size(); age++)
            basis->buckets[journal.buckets.size() - 1 - age] = journal.buckets.Newest(age);
    }
    LWLockRelease(walsizer_shared->lock);
    basis->ring = {basis->buckets, walsizer::kBucketCapacity, &basis->written};
    return basis;
}

static TimestampTz walsizer_since(Interval* since) {
    Interval zero;
    memset(&zero, 0, sizeof(zero));
    if (DatumGetBool(DirectFunctionCall2(interval_le, IntervalPGetDatum(since), IntervalPGetDatum(&zero))))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("since must be a positive interval"),
                        errhint("It tells how far to look back, as in since => interval '1 hour'.")));
    return DatumGetTimestampTz(DirectFunctionCall2(
        timestamptz_mi_interval, TimestampTzGetDatum(GetCurrentTimestamp()), IntervalPGetDatum(since)));
}

static void walsizer_check_size(int64 size, const walsizer::ServerSettings& server) {
    const walsizer::Bytes smallest = walsizer::SmallestMaxWalSize(server);
    if (size < smallest)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("a max_wal_size of " INT64_FORMAT " bytes is too small", size),
                 errhint("Sizes are bytes, and at least two WAL segments (%s); pg_size_bytes('1GB') helps.",
                         walsizer::SizeText(smallest).c_str())));
    if (size > walsizer::kLargestMaxWalSize)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a max_wal_size of " INT64_FORMAT " bytes is too large", size),
                        errhint("PostgreSQL accepts at most %s.",
                                walsizer::SizeText(walsizer::kLargestMaxWalSize).c_str())));
}

// The caller's sizes, in the caller's order.
static walsizer::Bytes* walsizer_read_sizes(ArrayType* array, const walsizer::ServerSettings& server,
                                            int* count) {
    if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("sizes must be a one-dimensional array without NULLs"),
                        errhint("Leave sizes out to see a ladder of doubling sizes.")));
    *count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    walsizer::Bytes* sizes = (walsizer::Bytes*)palloc(sizeof(walsizer::Bytes) * Max(*count, 1));
    const int64* elements = (const int64*)ARR_DATA_PTR(array);
    for (int i = 0; i < *count; i++) {
        walsizer_check_size(elements[i], server);
        sizes[i] = elements[i];
    }
    return sizes;
}

// Why images are not known, for ExplainRow(); nullptr: they are.
static const char* walsizer_images_unknown(const WhatIfBasis& basis) {
    return walsizer::ImagesAreKnown(basis.record, basis.curve)
               ? nullptr
               : "the statistics do not tell full-page images";
}

static void walsizer_fill_what_if(WalsizerRow* row, const WhatIfBasis& basis, walsizer::Bytes size) {
    walsizer::ServerSettings server = basis.server;
    server.max_wal_size = size;
    walsizer::WhatIfRow result = walsizer::WhatIf(server, basis.ring, basis.record, basis.curve);
    const walsizer::Reason note = walsizer::ExplainRow({basis.server.max_wal_size, basis.recommended},
                                                       basis.record, walsizer_images_unknown(basis), result);
    const double hours = basis.record.seconds / 3600;
    const walsizer::LimitFacts& limits = basis.limits;
    const walsizer::Micros longest = limits.settings.max_recovery_time;
    const double all = result.timed + result.forced + result.requested;
    row->used = 0;
    walsizer_add_bytes(row, size);
    walsizer_add_bytes(row, result.trigger_size);
    walsizer_add_float(row, result.timed / hours);
    walsizer_add_float(row, result.forced / hours);
    if (all > 0)
        walsizer_add_float(row, result.forced / all);
    else
        walsizer_add_null(row);
    walsizer_add_bytes(row, (walsizer::Bytes)(result.wal_bytes / hours));
    walsizer_add_bool(row, result.is_bound);
    walsizer_add_interval(row, limits.recovery.Estimate(size));
    if (limits.volume.known)
        walsizer_add_bool(row, size <= walsizer::DiskCeiling(limits));
    else
        walsizer_add_null(row);
    walsizer_add_bool(row, longest == 0 || size <= limits.recovery.SizeWithin(longest));
    walsizer_add_text(row, note.c_str());
}

// One checkpoint_timeout at least, or the figures would be those of a moment.
static void walsizer_require_record(const WhatIfBasis& basis, bool limited) {
    const walsizer::Micros seen = (walsizer::Micros)(basis.record.seconds * walsizer::kSecond);
    const walsizer::Micros wanted = basis.server.checkpoint_timeout;
    if (seen >= wanted) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("walsizer has recorded WAL for %s%s, too short to tell",
                    walsizer::ClockText(seen).c_str(), limited ? " in that time" : ""),
             errhint("One checkpoint_timeout (%s) is the least: %s.", walsizer::ClockText(wanted).c_str(),
                     limited ? "look back further" : "try again later")));
}

Datum walsizer_what_if(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    const bool limited = !PG_ARGISNULL(1);
    const TimestampTz since = limited ? walsizer_since(PG_GETARG_INTERVAL_P(1)) : 0;
    WhatIfBasis* basis = walsizer_take_record();
    if (!basis->started)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("walsizer's worker has not looked at the server yet"),
                        errhint("Try again in a few seconds; walsizer.status tells the worker's state.")));
    const walsizer::SizeLadder ladder =
        walsizer::LadderOf(basis->server, {basis->server.max_wal_size, basis->recommended}, basis->ceiling);
    int count = (int)ladder.count;
    const walsizer::Bytes* sizes =
        PG_ARGISNULL(0) ? ladder.sizes : walsizer_read_sizes(PG_GETARG_ARRAYTYPE_P(0), basis->server, &count);
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    basis->record = walsizer::Summarize(basis->ring, since);
    walsizer_require_record(*basis, limited);
    basis->curve = basis->images.Fit();
    for (int i = 0; i < count; i++) {
        CHECK_FOR_INTERRUPTS();
        WalsizerRow row;
        walsizer_fill_what_if(&row, *basis, sizes[i]);
        walsizer_put_row(&set, &row);
    }
    return (Datum)0;
}
