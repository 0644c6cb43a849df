#include "walsizer/wal_record.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// A bucket with less WAL says nothing about checkpoints; neighbours like it are merged, up to an hour.
constexpr float kQuietRate = 4096;  // bytes/s
constexpr float kLongestQuiet = 3600;
// Reports have to cover this much of the WAL of buckets to be believed to describe them.
constexpr double kCoverage = 0.8;
// An hour of buckets at the default timeout: a statement that runs longer leaves them unknown.
constexpr std::uint32_t kLongestWait = 360;
// Reports come once a second: before that nothing is known of a cycle.
constexpr Micros kReportInterval = kSecond;
constexpr double kEnoughReported = 0.5;
// Seconds between two buckets that the wall clock may lose or gain.
constexpr double kLargestGap = 5;
// No bucket lasts longer or holds more than this: a day, and 10 TB.
constexpr float kLongestBucket = 86400;
constexpr float kMostWal = 1e13F;

bool Continues(const WalStatistics& before, const WalStatistics& now) noexcept {
    return before.known && now.known && now.bytes >= before.bytes && now.fpi_bytes >= before.fpi_bytes &&
           now.records >= before.records;
}

SinceRedo Difference(const WalStatistics& from, const WalStatistics& to, double written) noexcept {
    return {static_cast<double>(to.records - from.records),
            static_cast<double>(to.fpi_bytes - from.fpi_bytes), static_cast<double>(to.bytes - from.bytes),
            written};
}

}  // namespace

bool Follows(const WalBucket& before, const WalBucket& after) noexcept {
    const double gap =
        static_cast<double>(after.start - before.start) / kSecond - static_cast<double>(before.seconds);
    return gap > -kLargestGap && gap < kLargestGap;
}

void MendBucket(WalBucket& bucket) noexcept {
    const auto mend = [](float& value, float lowest, float largest) {
        if (!(value >= lowest)) value = lowest;  // NaN, too
        value = std::min(value, largest);
    };
    constexpr Timestamp furthest = Timestamp{1} << 60;
    bucket.start = std::clamp(bucket.start, -furthest, furthest);
    mend(bucket.seconds, 0, kLongestBucket);
    mend(bucket.wal_bytes, 0, kMostWal);
    mend(bucket.since_redo, 0, kMostWal);
    mend(bucket.records, -1, kMostWal);
    mend(bucket.image_bytes, -1, kMostWal);
    if (bucket.records < 0 || bucket.image_bytes < 0) bucket.records = bucket.image_bytes = -1;
}

void WalRecorder::Begin(const Observation& seen) noexcept {
    started_ = true;
    open_ = WalBucket();
    open_.start = seen.wall;
    open_from_ = seen.now;
    latest_ = reported_ = stretch_from_ = {seen.now, seen.position, seen.redo, seen.wal};
    server_start_ = seen.server_start;
    in_recovery_ = seen.in_recovery;
    at_redo_ = WalStatistics();
    mix_ = SinceRedo();
    waiting_ = 0;
    waiting_wal_ = 0;
    waiting_from_ = seen.wal;
}

void WalRecorder::Look(const Observation& seen, std::int64_t requests, Ring<WalBucket>& buckets) noexcept {
    if (buckets.capacity() == 0) return;  // nobody will ask
    // Replayed catch-up was written at another time; positions of another history cannot be subtracted.
    const bool usable = !seen.in_recovery || seen.replay_current;
    const bool same = started_ && seen.in_recovery == in_recovery_ && seen.position >= latest_.position &&
                      seen.server_start == server_start_;
    if (!usable) {
        started_ = false;
        return;
    }
    if (!same) {
        Begin(seen);
        return;
    }
    open_.wal_bytes += static_cast<float>(seen.position - latest_.position);
    if (seen.redo != latest_.redo) ++open_.moves;
    open_.requests =
        static_cast<std::uint16_t>(std::min<std::int64_t>(open_.requests + requests, UINT16_MAX));
    // On a standby the statistics are those of the standby's own few records.
    latest_ = {seen.now, seen.position, seen.redo, seen.wal};
    timeout_ = seen.server.checkpoint_timeout;
    if (seen.wal.known && !seen.in_recovery) ReadStatistics(latest_);
    if (seen.now - open_from_ >= seen.server.checkpoint_timeout / kBucketsPerTimeout) Close(seen, buckets);
}

void WalRecorder::ReadStatistics(const Point& seen) noexcept {
    if (!Continues(reported_.wal, seen.wal)) {  // reset, or the first look that has them
        reported_ = stretch_from_ = seen;
        waiting_from_ = seen.wal;
        waiting_ = 0;
        waiting_wal_ = 0;
        at_redo_ = WalStatistics();
        return;
    }
    FollowCycle(seen);
    if (seen.now - stretch_from_.now >= kReportInterval && seen.wal.records > stretch_from_.wal.records) {
        mix_ = Difference(stretch_from_.wal, seen.wal,
                          static_cast<double>(seen.position - stretch_from_.position));
        profile_.AddStretch(mix_);
        stretch_from_ = seen;
    }
    reported_ = seen;
}

// What had been reported when the redo point was set, between two looks. WAL before it had the mix of the
// last stretch: fewer images than WAL after it.
WalStatistics WalRecorder::StatisticsAt(Lsn redo, const Point& seen) const noexcept {
    const auto span = static_cast<double>(seen.position - reported_.position);
    const double before = redo > reported_.position ? static_cast<double>(redo - reported_.position) : 0;
    const double part = span > 0 ? std::min(before / span, 1.0) : 0;
    const SinceRedo step = Difference(reported_.wal, seen.wal, span);
    const double bytes = part * step.reported;
    const auto mixed = [&](double in_mix, double in_step) {
        const double value = mix_.reported > 0 ? bytes * in_mix / mix_.reported : part * in_step;
        return static_cast<std::int64_t>(std::min(value, in_step));
    };
    WalStatistics at;
    at.known = true;
    at.bytes = reported_.wal.bytes + static_cast<Bytes>(bytes);
    at.fpi_bytes = reported_.wal.fpi_bytes + mixed(mix_.images, step.images);
    at.records = reported_.wal.records + mixed(mix_.records, step.records);
    return at;
}

void WalRecorder::FollowCycle(const Point& seen) noexcept {
    if (seen.redo != reported_.redo) {
        const WalStatistics at_redo = StatisticsAt(seen.redo, seen);
        if (at_redo_.known)
            profile_.Fade(static_cast<double>(seen.now - redo_seen_) / static_cast<double>(timeout_));
        // A whole cycle is the best point of all: what was not yet reported at its ends evens out.
        if (at_redo_.known && seen.redo > reported_.redo)
            profile_.AddPoint(Difference(at_redo_, at_redo, static_cast<double>(seen.redo - reported_.redo)),
                              static_cast<double>(seen.now - redo_seen_) / kSecond);
        at_redo_ = at_redo;
        redo_seen_ = seen.now;
        last_bin_ = 0;
        return;
    }
    if (!at_redo_.known || seen.now - redo_seen_ < kReportInterval) return;
    const SinceRedo since = Difference(at_redo_, seen.wal, static_cast<double>(seen.position - seen.redo));
    if (since.reported < kEnoughReported * since.written) return;
    const unsigned bin = ImageProfile::BinOf(since.written);
    if (bin == last_bin_) return;
    last_bin_ = bin;
    profile_.AddPoint(since, static_cast<double>(seen.now - redo_seen_) / kSecond);
}

void WalRecorder::Close(const Observation& seen, Ring<WalBucket>& buckets) noexcept {
    open_.seconds = static_cast<float>(seen.now - open_from_) / kSecond;
    open_.since_redo = static_cast<float>(seen.position - seen.redo);
    MendBucket(open_);
    const bool quiet = open_.wal_bytes < kQuietRate * open_.seconds;
    WalBucket* before = buckets.size() > 0 ? &buckets.Newest(0) : nullptr;
    const bool merge = quiet && before != nullptr && waiting_ == 0 &&
                       before->wal_bytes < kQuietRate * before->seconds &&
                       before->seconds + open_.seconds <= kLongestQuiet && before->requests == 0 &&
                       open_.requests == 0 && Follows(*before, open_);
    if (merge) {
        before->seconds += open_.seconds;
        before->wal_bytes += open_.wal_bytes;
        before->since_redo = open_.since_redo;
        before->moves = static_cast<std::uint16_t>(before->moves + open_.moves);
        waiting_from_ = reported_.wal;
    } else {
        buckets.Push(open_);
        ++waiting_;
        waiting_wal_ += static_cast<double>(open_.wal_bytes);
        Spread(buckets);
    }
    open_ = WalBucket();
    open_.start = seen.wall;
    open_from_ = seen.now;
}

// Reports come late: they are spread over the buckets since the last ones, by their WAL.
void WalRecorder::Spread(Ring<WalBucket>& buckets) noexcept {
    const SinceRedo reported = Difference(waiting_from_, reported_.wal, waiting_wal_);
    const bool known = Continues(waiting_from_, reported_.wal);
    const bool covered = known && reported.reported >= kCoverage * waiting_wal_;
    if (!covered && waiting_ < std::min(kLongestWait, buckets.capacity())) return;
    if (covered && reported.reported > 0)
        for (std::uint32_t age = 0; age < std::min(waiting_, buckets.size()); ++age) {
            WalBucket& bucket = buckets.Newest(age);
            const double part = static_cast<double>(bucket.wal_bytes) / reported.reported;
            bucket.records = static_cast<float>(part * reported.records);
            bucket.image_bytes = static_cast<float>(part * reported.images);
        }
    waiting_ = 0;
    waiting_wal_ = 0;
    waiting_from_ = reported_.wal;
}

}  // namespace walsizer
