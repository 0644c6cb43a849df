#include "cli/log/tally.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace walsizer::cli {

namespace {

// Checkpoints kept for charts.
constexpr std::size_t kHistory = 2000;
// PostgreSQL's timer counts whole seconds, and stamps may be whole seconds.
constexpr Micros kTimerSlack = 2 * kSecond;
// As in the engine (cycles.cpp): a cycle shorter than this share of the timeout inflates its WAL.
constexpr double kWholeCycle = 0.8;
// Redo points and the distance that was logged differ by this much at most, unless lines are missing.
constexpr Bytes kSameDistance = kMiB;
constexpr std::size_t kMostClose = 4096;
// A segment that was switched for its age holds next to nothing.
constexpr std::int64_t kIdleBuffers = 10;

void Least(Micros& least, Micros value) {
    if (value >= 0 && (least < 0 || value < least)) least = value;
}

}  // namespace

void Tally::Add(const Tally& other) {
    counts.Add(other.counts);
    history.insert(history.end(), other.history.begin(), other.history.end());
    while (history.size() > kHistory) history.pop_front();
    if (other.from && (!from || other.from->at < from->at)) from = other.from;
    if (other.to && (!to || other.to->at > to->at)) to = other.to;
    watched += other.watched;
    wal_bytes += other.wal_bytes;
    peak = std::max(peak, other.peak);
    clean_peak = std::max(clean_peak, other.clean_peak);
    if (other.seen_time > seen_time) {
        seen_time = other.seen_time;
        seen_bytes = other.seen_bytes;
    }
    told = told || other.told;
    estimated = estimated || other.estimated;
    forced += other.forced;
    forced_close = std::max(forced_close, other.forced_close);
    Least(shortest_forced, other.shortest_forced);
    longest_forced = std::max(longest_forced, other.longest_forced);
    Least(smallest_stale, other.smallest_stale);
    largest_stale = std::max(largest_stale, other.largest_stale);
    longest_sync_phase = std::max(longest_sync_phase, other.longest_sync_phase);
    longest_sync_file = std::max(longest_sync_file, other.longest_sync_file);
    segment_switches += other.segment_switches;
}

// Without a "starting" line the distance may still tell: as much WAL as forced others in the same log, or as
// the trigger that the log or an option names.
void Account::Judge(LoggedCheckpoint& checkpoint, const Circumstances& now) const {
    if (checkpoint.cause != Cause::kUnknown || checkpoint.started) return;
    const Bytes distance = checkpoint.figures.distance;
    if (distance < 0 || checkpoint.figures.distance_cut) return;
    const ServerSettings server = now.settings.ForEngine();
    const bool setting_known = now.settings.max_wal_size.origin != Origin::kDefault;
    if ((setting_known && distance >= TriggerSize(server.max_wal_size, server)) ||
        (now.smallest_forced >= 0 && distance >= now.smallest_forced))
        checkpoint.cause = Cause::kWal;
}

Bytes Account::WalOf(const LoggedCheckpoint& checkpoint, const Circumstances& now, bool& measured) const {
    const ServerSettings server = now.settings.ForEngine();
    const CheckpointFigures& figures = checkpoint.figures;
    measured = true;
    if (figures.distance >= 0 && !figures.distance_cut) return figures.distance;
    // A figure that lost its last digits is a lower bound. It is of use where it is as large as it must be.
    const Bytes least = TriggerSize(server.max_wal_size, server) - server.segment_size;
    if (figures.distance_cut && checkpoint.cause == Cause::kWal && figures.distance >= least)
        return figures.distance;
    measured = false;
    if (checkpoint.cause == Cause::kWal) return TriggerSize(server.max_wal_size, server);
    return -1;
}

// Forced although WAL was short of what the present setting lets through. A statement that runs since before
// the change goes on with its old trigger.
bool Account::IsStale(const LoggedCheckpoint& checkpoint, Bytes wal_bytes, const Circumstances& now) const {
    if (checkpoint.cause != Cause::kWal || !now.raised_at) return false;
    if (checkpoint.at && checkpoint.at->dated == now.raised_at->dated &&
        checkpoint.at->at < now.raised_at->at)
        return false;
    // Where the log does not say how much WAL it was, it is as those before it.
    if (checkpoint.figures.distance < 0) return only_stale_since_raise_;
    const ServerSettings server = now.settings.ForEngine();
    return wal_bytes <= TriggerSize(server.max_wal_size, server) - server.segment_size;
}

// -1 when it is not known.
Micros Account::IntervalBefore(const LoggedCheckpoint& checkpoint) const {
    if (!checkpoint.at || !previous_ || previous_->dated != checkpoint.at->dated) return -1;
    return std::max<Micros>(checkpoint.at->at - previous_->at, 0);
}

void Account::Break(const Circumstances& now) {
    const Stretch stretch = meter_.Latest(now.settings.checkpoint_timeout.value);
    if (!stretch.complete && stretch.watched > tally_.seen_time) {
        tally_.seen_time = stretch.watched;
        tally_.seen_bytes = static_cast<Bytes>(stretch.bytes);
    }
    meter_.Restart();
    previous_.reset();
    previous_redo_ = 0;
}

void Account::Close(const Circumstances& now) {
    Break(now);
}

// Ticks of the timer that found nothing to do are skipped, so that the WAL came after the last of them.
Micros Account::WrittenIn(const LoggedCheckpoint& checkpoint, Micros interval, bool gap, Micros timeout) {
    if (gap || interval <= timeout + kTimerSlack) return interval;
    return checkpoint.cause == Cause::kTime ? timeout : std::max(interval % timeout, kSecond);
}

void Account::Measure(const LoggedCheckpoint& checkpoint, Bytes wal_bytes, Micros interval, bool gap,
                      const Circumstances& now) {
    const Micros timeout = now.settings.checkpoint_timeout.value;
    const Micros at = checkpoint.at->at;
    if (wal_bytes < 0 || interval < 0) {
        // What was written before this one is not known: the stretch begins here.
        const auto previous = previous_;
        Break(now);
        previous_ = previous;
        meter_.Look(at, static_cast<Lsn>(position_), timeout);
        return;
    }
    const Micros written_in = WrittenIn(checkpoint, interval, gap, timeout);
    meter_.Look(at - written_in, static_cast<Lsn>(position_), timeout);
    position_ += wal_bytes;
    tally_.wal_bytes += wal_bytes;
    tally_.watched += interval;
    meter_.Look(at, static_cast<Lsn>(position_), timeout);
    const Stretch stretch = meter_.Latest(timeout);
    if (stretch.complete) {
        const auto bytes = static_cast<Bytes>(stretch.bytes);
        tally_.peak = std::max(tally_.peak, bytes);
        if (stretch.clean) tally_.clean_peak = std::max(tally_.clean_peak, bytes);
    }
    const bool early = static_cast<double>(interval) < kWholeCycle * static_cast<double>(timeout);
    if (checkpoint.cause == Cause::kWal && early) meter_.CycleCutShort(at);
}

void Account::NoteForced(const LoggedCheckpoint& checkpoint, Micros interval, const Circumstances& now) {
    ++tally_.forced;
    if (interval >= 0) {
        Least(tally_.shortest_forced, interval);
        tally_.longest_forced = std::max(tally_.longest_forced, interval);
    }
    if (!checkpoint.at) return;
    forced_lately_.push_back(checkpoint.at->at);
    const Micros since = checkpoint.at->at - now.settings.checkpoint_timeout.value;
    while (!forced_lately_.empty() && (forced_lately_.front() < since || forced_lately_.size() > kMostClose))
        forced_lately_.pop_front();
    tally_.forced_close = std::max(tally_.forced_close, static_cast<std::int64_t>(forced_lately_.size()));
}

void Account::Take(LoggedCheckpoint checkpoint, const Circumstances& now) {
    const CheckpointFigures& figures = checkpoint.figures;
    if (checkpoint.broken_off || checkpoint.cause == Cause::kRecovery) Break(now);
    if (previous_redo_ != 0 && figures.redo != 0 && figures.redo < previous_redo_) Break(now);
    Judge(checkpoint, now);

    bool measured = false;
    Bytes wal_bytes = WalOf(checkpoint, now, measured);
    Micros interval = IntervalBefore(checkpoint);
    bool gap = false;
    if (previous_redo_ != 0 && figures.redo != 0) {
        const auto between = static_cast<Bytes>(figures.redo - previous_redo_);
        gap = measured && std::abs(between - wal_bytes) > kSameDistance;
        wal_bytes = between;
        measured = true;
    }
    // "N seconds apart" speaks of the checkpoint before, whose own lines may be missing.
    if (checkpoint.seconds >= 0 && checkpoint.at) {
        const Micros said = checkpoint.seconds * kSecond;
        if (interval < 0 || std::abs(interval - said) > kTimerSlack) {
            Break(now);
            interval = said;
        }
    }

    Checkpoint row;
    row.started = checkpoint.at;
    row.cause = checkpoint.cause;
    row.stale = IsStale(checkpoint, wal_bytes, now);
    if (row.stale && !measured) wal_bytes = -1;  // its trigger is an older one, which is not known
    row.wal_bytes = measured ? wal_bytes : -1;
    row.interval = interval;
    row.written_in = WrittenIn(checkpoint, interval, gap, now.settings.checkpoint_timeout.value);
    row.write_time = figures.write;
    row.sync_time = figures.sync;
    row.total_time = figures.total;
    row.buffers = figures.buffers;
    tally_.history.push_back(row);
    if (tally_.history.size() > kHistory) tally_.history.pop_front();

    ++tally_.counts[checkpoint.cause];
    tally_.told = tally_.told || checkpoint.started || checkpoint.completed.has_value();
    tally_.longest_sync_phase = std::max(tally_.longest_sync_phase, figures.sync);
    tally_.longest_sync_file = std::max(tally_.longest_sync_file, figures.longest_sync);
    if (checkpoint.cause != Cause::kWal && figures.distance > 0 && figures.buffers >= 0 &&
        figures.buffers <= kIdleBuffers && figures.distance % now.settings.segment_size.value == 0)
        ++tally_.segment_switches;
    const std::optional<Instant>& seen = checkpoint.at ? checkpoint.at : checkpoint.completed;
    if (seen && (!tally_.from || seen->at < tally_.from->at)) tally_.from = seen;
    const std::optional<Instant>& last = checkpoint.completed ? checkpoint.completed : checkpoint.at;
    if (last && (!tally_.to || last->at > tally_.to->at)) tally_.to = last;

    if (row.stale) {
        ++tally_.counts.stale;
        if (row.wal_bytes >= 0) {
            Least(tally_.smallest_stale, row.wal_bytes);
            tally_.largest_stale = std::max(tally_.largest_stale, row.wal_bytes);
        }
    } else if (checkpoint.cause == Cause::kWal) {
        NoteForced(checkpoint, interval, now);
    }
    if (now.raised_at && figures.distance >= 0 && checkpoint.cause == Cause::kWal)
        only_stale_since_raise_ = row.stale;
    if (checkpoint.cause == Cause::kWal && !measured && !row.stale) tally_.estimated = true;
    // A standby's restartpoints follow the primary's checkpoints.
    if (checkpoint.at && checkpoint.cause != Cause::kRestartpoint)
        Measure(checkpoint, wal_bytes, interval, gap, now);
    if (checkpoint.at) previous_ = checkpoint.at;
    if (figures.redo != 0) previous_redo_ = figures.redo;
}

}  // namespace walsizer::cli
