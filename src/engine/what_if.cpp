#include "walsizer/what_if.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer {

namespace {

// Images are counted in pages of this size; the curve's scale tells how large they really are.
constexpr double kPage = 8 * kKiB;
// How much more or fewer images per record a stretch may have had than the curve says: another load.
constexpr double kMostScale = 4;
// Below this share of WAL with known images the record says little about them.
constexpr double kCoveredEnough = 0.5;
constexpr Bytes kLadderStart = 256 * kMiB;

// Where the recorded server stood, in records since its redo point.
class RecordedCycle {
  public:
    explicit RecordedCycle(const FirstTouchCurve& curve) noexcept : curve_(curve) {}

    struct Share {
        double records = 0;
        double images = 0;    // as reported; by the curve where the statistics do not tell
        double expected = 0;  // by the curve
    };

    Share Next(const WalBucket& bucket) noexcept {
        const double wal = static_cast<double>(bucket.wal_bytes);
        const double after = std::min(static_cast<double>(bucket.since_redo), wal);
        const double old = bucket.moves > 0 ? wal - after : wal;
        const double cycles = std::max<double>(bucket.moves, 1);
        Share share;
        if (bucket.records >= 0) {
            share.records = static_cast<double>(bucket.records);
            const double part = wal > 0 ? old / wal : 1;
            Live(share.records * part, cycles, share);
            if (bucket.moves > 0) Restart(share.records * (1 - part), share);
            share.images = static_cast<double>(bucket.image_bytes);
        } else {
            LiveWal(old, cycles, share);
            if (bucket.moves > 0) RestartWal(after, share);
            share.images = share.expected;
        }
        return share;
    }

    // Nobody watched for a while.
    void Resume(const WalBucket& bucket) noexcept {
        const double before = bucket.moves > 0 ? 0 : std::max(bucket.since_redo - bucket.wal_bytes, 0.0F);
        records_ = RecordsIn(0, before);
    }

  private:
    // `records` over the end of the present cycle and `cycles` - 1 whole ones.
    void Live(double records, double cycles, Share& share) noexcept {
        const double each = records / cycles;
        share.expected += curve_.Images(records_ + each) - curve_.Images(records_);
        share.expected += (cycles - 1) * curve_.Images(each);
        records_ += each;
    }
    void Restart(double records, Share& share) noexcept {
        share.expected += curve_.Images(records);
        records_ = records;
    }
    void LiveWal(double wal, double cycles, Share& share) noexcept {
        const double first = RecordsIn(records_, wal / cycles);
        const double each = cycles > 1 ? RecordsIn(0, wal / cycles) : 0;
        share.records += first + (cycles - 1) * each;
        share.expected += curve_.Images(records_ + first) - curve_.Images(records_);
        share.expected += (cycles - 1) * curve_.Images(each);
        records_ += first;
    }
    void RestartWal(double wal, Share& share) noexcept {
        records_ = RecordsIn(0, wal);
        share.records += records_;
        share.expected += curve_.Images(records_);
    }

    // Records that make `wal` bytes, images included, from `from` records after the redo point on.
    double RecordsIn(double from, double wal) const noexcept {
        if (!curve_.known || !(wal > 0)) return 0;
        const double bytes = wal / curve_.overhead;
        double low = 0;
        double high = bytes / curve_.bytes_per_record;
        const double start = curve_.Images(from);
        for (int step = 0; step < 40; ++step) {
            const double middle = (low + high) / 2;
            const double images = curve_.Images(from + middle) - start;
            const bool more = middle * curve_.bytes_per_record + images * curve_.image_scale < bytes;
            (more ? low : high) = middle;
        }
        return (low + high) / 2;
    }

    const FirstTouchCurve& curve_;
    double records_ = 0;
};

class Replay {
  public:
    Replay(const ServerSettings& server, const FirstTouchCurve& curve) noexcept
        : curve_(curve), paper_(server, static_cast<Lsn>(server.segment_size), 0) {}

    void Live(const WalBucket& bucket, const RecordedCycle::Share& share, double scale) noexcept {
        const double wal = static_cast<double>(bucket.wal_bytes);
        const double seconds = static_cast<double>(bucket.seconds);
        if (!(seconds > 0)) return;
        PaperLoad load;
        load.records = wal / seconds;
        if (curve_.known) {
            load.image_size = kPage * curve_.image_scale * curve_.overhead;
            load.records = std::max(wal - share.images * curve_.image_scale * curve_.overhead, 0.0) / seconds;
            for (unsigned i = 0; i < FirstTouchCurve::kSets; ++i) {
                const FirstTouchCurve::Set& set = curve_.sets[i];
                if (!(set.records > 0)) continue;
                load.sets[i].pages = set.images / kPage;
                load.sets[i].touches = load.sets[i].pages / set.records * share.records * scale / seconds;
            }
        }
        const auto time = static_cast<Micros>(seconds * kSecond);
        const double part = wal > 0 ? 1 - std::min(static_cast<double>(bucket.since_redo) / wal, 1.0) : 1;
        const Micros before =
            bucket.requests > 0 ? static_cast<Micros>(part * static_cast<double>(time)) : time;
        Write(load, before);
        if (bucket.requests > 0) paper_.Request();
        Write(load, time - before);
    }

    // The server was restarted, or nobody watched: whatever was there, a checkpoint came between.
    void Interrupt() noexcept {
        paper_.Request();
        Write(PaperLoad(), kMillisecond);
    }

    WhatIfRow Result() const noexcept {
        WhatIfRow row = row_;
        row.max_wal_size = paper_.server().max_wal_size;
        row.trigger_size = TriggerSize(row.max_wal_size, paper_.server());
        row.wal_bytes = paper_.record_bytes() + paper_.image_bytes();
        row.largest_cycle =
            std::max(row.largest_cycle, static_cast<double>(paper_.position() - paper_.redo()));
        return row;
    }

  private:
    void Write(const PaperLoad& load, Micros time) noexcept {
        for (;;) {
            const PaperStep step = paper_.Advance(load, time);
            time -= step.elapsed;
            if (step.event == PaperEvent::kNone) return;
            row_.forced += step.event == PaperEvent::kForced;
            row_.timed += step.event == PaperEvent::kTimed;
            row_.requested += step.event == PaperEvent::kRequested;
            row_.largest_cycle = std::max(row_.largest_cycle, static_cast<double>(step.wal_bytes));
        }
    }

    const FirstTouchCurve& curve_;
    PaperCheckpointer paper_;
    WhatIfRow row_;
};

// The curve is an average; a stretch of one timeout may have been another load, with more or fewer images per
// record than that.
double ScaleOf(const Ring<WalBucket>& buckets, std::uint32_t age, RecordedCycle cycle) noexcept {
    double images = 0;
    double expected = 0;
    for (std::uint32_t i = 0; i < kBucketsPerTimeout && i <= age; ++i) {
        const RecordedCycle::Share share = cycle.Next(buckets.Newest(age - i));
        images += share.images;
        expected += share.expected;
    }
    return expected > kPage ? std::min(images / expected, kMostScale) : 1;
}

WhatIfRow ReplayRecord(const ServerSettings& server, const Ring<WalBucket>& buckets,
                       const RecordSummary& record, const FirstTouchCurve& curve,
                       const FirstTouchCurve& recorded) noexcept {
    RecordedCycle cycle(recorded);
    Replay replay(server, curve);
    double scale = 1;
    for (std::uint32_t i = 0; i < record.buckets; ++i) {
        const std::uint32_t age = record.buckets - 1 - i;
        const WalBucket& bucket = buckets.Newest(age);
        const bool first = i == 0;
        if (first || !Follows(buckets.Newest(age + 1), bucket)) {
            cycle.Resume(bucket);
            if (!first) replay.Interrupt();
        }
        if (i % kBucketsPerTimeout == 0) scale = ScaleOf(buckets, age, cycle);
        replay.Live(bucket, cycle.Next(bucket), scale);
    }
    return replay.Result();
}

}  // namespace

RecordSummary Summarize(const Ring<WalBucket>& buckets, Timestamp since) noexcept {
    RecordSummary record;
    double covered = 0;
    double cycle = 0;
    while (record.buckets < buckets.size()) {
        const WalBucket& bucket = buckets.Newest(record.buckets);
        const double seconds = static_cast<double>(bucket.seconds);
        if (since != 0 && bucket.start + static_cast<Timestamp>(seconds * kSecond) <= since) break;
        ++record.buckets;
        const double wal = static_cast<double>(bucket.wal_bytes);
        record.seconds += seconds;
        record.wal_bytes += wal;
        if (bucket.records >= 0) covered += wal;
        // From the newest to the oldest: what follows a redo point in this bucket ends that cycle.
        const double after = std::min(static_cast<double>(bucket.since_redo), wal);
        if (bucket.moves == 0) {
            cycle += wal;
        } else {
            record.largest_cycle = std::max(record.largest_cycle, cycle + after);
            cycle = (wal - after) / bucket.moves;
        }
        record.largest_cycle = std::max(record.largest_cycle, cycle);
    }
    record.covered = record.wal_bytes > 0 ? covered / record.wal_bytes : 0;
    return record;
}

WhatIfRow WhatIf(const ServerSettings& server, const Ring<WalBucket>& buckets, const RecordSummary& record,
                 const FirstTouchCurve& curve) noexcept {
    WhatIfRow row = ReplayRecord(server, buckets, record, curve, curve);
    if (row.largest_cycle <= kPredictable * record.largest_cycle) return row;
    row = ReplayRecord(server, buckets, record, curve.AtMost(), curve);
    row.is_bound = true;
    return row;
}

bool ImagesAreKnown(const RecordSummary& record, const FirstTouchCurve& curve) noexcept {
    return curve.known && record.covered >= kCoveredEnough;
}

SizeLadder LadderOf(const ServerSettings& server, const MarkedSizes& marked, Bytes ceiling) noexcept {
    SizeLadder ladder;
    const Bytes smallest = SmallestMaxWalSize(server);
    for (Bytes size = std::max(kLadderStart, smallest);
         size <= ceiling && ladder.count < SizeLadder::kMost - 2; size *= 2)
        ladder.sizes[ladder.count++] = size;
    for (const Bytes size : {marked.present, marked.recommended}) {
        Bytes* const end = ladder.sizes + ladder.count;
        Bytes* const at = std::lower_bound(ladder.sizes, end, size);
        if (at != end && *at == size) continue;
        std::move_backward(at, end, end + 1);
        *at = size;
        ++ladder.count;
    }
    return ladder;
}

Reason ExplainRow(const MarkedSizes& marked, const RecordSummary& record, const char* images_unknown,
                  WhatIfRow& row) noexcept {
    Reason note;
    const bool present = row.max_wal_size == marked.present;
    const bool recommended = row.max_wal_size == marked.recommended;
    if (present) note.Set(recommended ? "present, recommended" : "present");
    if (recommended && !present) note.Set("recommended");
    const char* then = note.empty() ? "" : "; ";
    if (images_unknown != nullptr && !present) {
        row.is_bound = true;
        note.Append("%sbound: at %s this much, since %s", then,
                    row.max_wal_size < marked.present ? "least" : "most", images_unknown);
    } else if (row.is_bound) {
        note.Append(
            "%sbound: at most this much, since no cycle on record was longer than %s and full-page images "
            "may "
            "fade sooner than they did there",
            then, SizeText(static_cast<Bytes>(record.largest_cycle)).c_str());
    }
    return note;
}

}  // namespace walsizer
