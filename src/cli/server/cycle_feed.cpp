#include "cli/server/cycle_feed.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer::cli {

namespace {

// Days of watching; beyond, the oldest are forgotten.
constexpr std::uint32_t kMostWindows = 5000;
constexpr std::uint32_t kMostCheckpoints = 100000;
// Looks further apart than this leave something unseen between them.
constexpr Micros kGap = 5 * kSecond;
// The statistics collector of 13 and 14 tells a checkpoint this late.
constexpr Micros kCountersLag = 1500 * kMillisecond;
// Nobody waits for a redo point longer than this; a held look costs some hundred bytes.
constexpr std::size_t kMostHeld = 200000;

bool Continuous(const CheckpointCounters& before, const CheckpointCounters& now) {
    return before.known && now.known && before.reset_at == now.reset_at && now.timed >= before.timed &&
           now.requested >= before.requested && now.write_time >= before.write_time;
}

std::int64_t Steps(const CheckpointCounters& before, const CheckpointCounters& now) {
    return Continuous(before, now) ? now.timed + now.requested - before.timed - before.requested : 0;
}

}  // namespace

CycleFeed::CycleFeed()
    : decisions_(1),
      windows_(kMostWindows),
      rows_(kMostCheckpoints),
      buckets_(kBucketCapacity),
      journal_{{decisions_.data(), 1, &written_[0]},
               {windows_.data(), kMostWindows, &written_[1]},
               {rows_.data(), kMostCheckpoints, &written_[2]},
               totals_,
               {buckets_.data(), kBucketCapacity, &written_[3]}} {}

void CycleFeed::Add(const Sample& sample) {
    if (!IsPlausible(sample.seen, latest_.now)) return;
    if (samples_ > 0) {
        const Micros since = sample.seen.now - latest_.now;
        if (since <= kGap) watched_ += since;
        if (sample.seen.position > latest_.position)
            wal_bytes_ += static_cast<Bytes>(sample.seen.position - latest_.position);
        if (sample.seen.server_start != latest_.server_start ||
            sample.seen.in_recovery != latest_.in_recovery) {
            // What was under way then never showed its redo point.
            Settle(true);
            restarted_ = true;
        }
    } else {
        first_ = shown_at_ = sample.seen;
        at_last_completion_ = sample;
    }
    NoteCompletion(sample);
    FollowCounters(sample.seen);
    held_.push_back(sample);
    latest_ = sample.seen;
    latest_sample_ = sample;
    ++samples_;
    if (sample.completed_redo == 0 || held_.size() > kMostHeld)
        Settle(true);
    else
        Settle(false);
}

void CycleFeed::NoteCompletion(const Sample& sample) {
    if (sample.completed_redo == 0 || completed_.count(sample.completed_redo) > 0) return;
    Completion completion;
    completion.started = sample.completed_at;
    if (samples_ > 0) {
        completion.total = std::max<Micros>(sample.seen.wall - sample.completed_at, 0);
        const CheckpointCounters& before = at_last_completion_.seen.counters;
        const CheckpointCounters& now = sample.seen.counters;
        if (Continuous(before, now)) {
            completion.write_time = now.write_time - before.write_time;
            completion.sync_time = now.sync_time - before.sync_time;
            completion.buffers = now.buffers_written - before.buffers_written;
        }
    }
    at_last_completion_ = sample;
    awaited_ = true;
    completed_[sample.completed_redo] = completion;
}

// Finds the look at which the latest completed checkpoint was counted: what is counted later belongs to one
// whose redo point does not show yet.
void CycleFeed::FollowCounters(const Observation& seen) {
    if (!Continuous(shown_at_.counters, seen.counters)) {
        shown_at_ = seen;
        steps_.clear();
        awaited_ = false;
        return;
    }
    if (Steps(steps_.empty() ? shown_at_.counters : steps_.back().counters, seen.counters) > 0)
        steps_.push_back(seen);
    if (!awaited_) return;
    // Before it started the timer only ticked on an idle server.
    const Timestamp started = at_last_completion_.completed_at;
    while (!steps_.empty() && steps_.front().wall < started - kSecond) {
        shown_at_ = steps_.front();
        steps_.pop_front();
    }
    if (!steps_.empty()) {
        shown_at_ = steps_.front();
        steps_.pop_front();
        awaited_ = false;
    } else if (seen.now - at_last_completion_.seen.now > kCountersLag) {
        awaited_ = false;
    }
}

Lsn CycleFeed::RedoBelow(Lsn position) const {
    auto after = completed_.lower_bound(position);
    // Everything known may lie above: the first look's own checkpoint, on a server where nothing is written.
    return after == completed_.begin() ? (after == completed_.end() ? 0 : std::min(after->first, position))
                                       : std::prev(after)->first;
}

void CycleFeed::Settle(bool all) {
    const Lsn newest = completed_.empty() ? 0 : completed_.rbegin()->first;
    while (!held_.empty() && (all || held_.front().seen.position <= newest)) {
        // Counters that belong to a checkpoint without a redo point would look like one more at the old one.
        const Observation& front = held_.front().seen;
        const bool settled =
            front.position <= newest || front.now <= shown_at_.now || held_.front().completed_redo == 0;
        Feed(held_.front(), settled);
        held_.pop_front();
    }
}

void CycleFeed::Feed(Sample sample, bool with_counters) {
    Observation& seen = sample.seen;
    seen.redo = RedoBelow(seen.position);
    seen.counters.known = seen.counters.known && with_counters;
    const auto known = completed_.find(seen.redo);
    if (fed_count_ == 0 && known != completed_.end()) {
        // PostgreSQL's timer begins anew when the server starts, however old the checkpoint is.
        const Micros age = std::min(seen.wall - known->second.started, seen.wall - seen.server_start);
        seen.redo_age = age >= 0 && age <= 24 * kHour ? age : -1;
    }
    const bool gap = fed_count_ > 0 && seen.now - fed_.now > kGap;
    if (fed_count_ > 0 && (seen.server_start != fed_.server_start || seen.in_recovery != fed_.in_recovery))
        expects_recovery_ = true;
    const std::uint64_t before = written_[2];
    const TrackerEvents events = tracker_.Look(seen, journal_);
    Classify(before, seen, events, gap);
    fed_ = seen;
    ++fed_count_;
}

void CycleFeed::Classify(std::uint64_t rows_before, const Observation& seen, const TrackerEvents& events,
                         bool gap) {
    const CheckpointCounts& settled = events.cycle.settled;
    if (events.cycle.forced_at_present) forced_at_present_ += settled.wal_forced;
    // Several checkpoints that nobody watched share one distance. Only if it suffices for all is their cause
    // known.
    const bool untold = gap && settled.effective() > 1 && settled.wal_forced != settled.effective();
    for (std::uint64_t row = rows_before; row < written_[2]; ++row) {
        const CheckpointRecord& record = rows_[row % rows_.size()];
        Told told = {Cause::kRequest, record.cause == CheckpointCause::kStale};
        if (record.cause == CheckpointCause::kWal || told.stale) told.cause = Cause::kWal;
        if (record.cause == CheckpointCause::kTime) told.cause = Cause::kTime;
        if (seen.in_recovery) {
            told.cause = Cause::kRestartpoint;
        } else if (expects_recovery_ && record.cause == CheckpointCause::kRequest) {
            told.cause = Cause::kRecovery;
            expects_recovery_ = false;
        } else if (untold) {
            told.cause = Cause::kUnknown;
        }
        told_[row] = told;
    }
}

void CycleFeed::Finish() {
    Settle(true);
}

std::vector<Checkpoint> CycleFeed::Checkpoints() const {
    std::vector<Checkpoint> result;
    const std::uint64_t oldest = written_[2] > rows_.size() ? written_[2] - rows_.size() : 0;
    for (std::uint64_t row = oldest; row < written_[2]; ++row) {
        const CheckpointRecord& record = rows_[row % rows_.size()];
        const auto told = told_.find(row);
        Checkpoint checkpoint;
        checkpoint.started = Instant{record.started_at};
        checkpoint.cause = told == told_.end() ? Cause::kUnknown : told->second.cause;
        checkpoint.stale = told != told_.end() && told->second.stale;
        const std::int32_t count = std::max(record.count, 1);
        checkpoint.wal_bytes = record.wal_bytes / count;
        checkpoint.interval = record.cycle_time < 0 ? -1 : record.cycle_time / count;
        const auto completion = completed_.find(record.redo);
        if (completion != completed_.end() && count == 1) {
            checkpoint.started->at = completion->second.started;
            checkpoint.total_time = completion->second.total;
            checkpoint.buffers = completion->second.buffers;
            const auto micros = [](double milliseconds) {
                return milliseconds < 0 ? Micros{-1} : static_cast<Micros>(std::llround(milliseconds * 1000));
            };
            checkpoint.write_time = micros(completion->second.write_time);
            checkpoint.sync_time = micros(completion->second.sync_time);
        }
        for (std::int32_t i = 0; i < count; ++i) result.push_back(checkpoint);
    }
    return result;
}

CauseCounts CycleFeed::Counts() const {
    CauseCounts counts;
    for (const Checkpoint& checkpoint : Checkpoints()) {
        ++counts[checkpoint.cause];
        if (checkpoint.stale) ++counts.stale;
    }
    // Without redo points only the counters tell: how many the timer started, and how many somebody else.
    if (latest_sample_.completed_redo == 0 && Continuous(first_.counters, latest_.counters)) {
        counts[Cause::kTime] += latest_.counters.timed - first_.counters.timed;
        counts[Cause::kUnknown] += latest_.counters.requested - first_.counters.requested;
    }
    return counts;
}

bool CycleFeed::OneIsRunning() const {
    // Skipped ticks of an idle server count as timed without being a checkpoint.
    const CheckpointCounters& then = shown_at_.counters;
    return latest_sample_.completed_redo != 0 && !latest_.in_recovery && Continuous(then, latest_.counters) &&
           latest_.counters.requested > then.requested;
}

}  // namespace walsizer::cli
