// Who still has an older trigger: a backend sees a new max_wal_size only between commands. The checkpoints
// that it asks for at the old distance are told from others, and the cycle is followed that would be open
// without them.
#include <algorithm>

#include "walsizer/cycles.hpp"

namespace walsizer {

namespace {

// Nothing was heard of a backend with an older setting for this long: it is taken to be gone.
constexpr Micros kOldTriggerLife = 10 * kMinute;

}  // namespace

// WAL since the redo point is far beyond what a trigger of `segments` would have let through.
bool CycleTracker::WellPast(std::int64_t segments, const Observation& seen) const noexcept {
    return ReachedTrigger(cycle_.redo, seen.position, 2 * segments + 8, seen.server.segment_size);
}

void CycleTracker::NoteTrigger(const Observation& seen) noexcept {
    const std::int64_t segments = CheckpointSegments(seen.server);
    if (present_segments_ != 0 && segments > present_segments_) AddOldTrigger({present_segments_, seen.now});
    present_segments_ = segments;
    present_trigger_ = TriggerSize(seen.server.max_wal_size, seen.server);
    if (segments < cycle_.smallest_segments) {
        cycle_.smallest_segments = segments;
        cycle_.smallest_trigger = present_trigger_;
    }
    if (started_ && cycle_.smallest_segments < segments && WellPast(cycle_.smallest_segments, seen)) {
        cycle_.smallest_segments = segments;
        cycle_.smallest_trigger = present_trigger_;
    }
    // WAL that passed an old trigger well without a checkpoint was written by backends that know the new one,
    // unless the checkpoint that another one asked for still runs: its next one has to wait for that.
    const bool hidden = cycle_.older_trigger > 0 && !cycle_.completed;
    const auto passed = [&](const OldTrigger& old) {
        return old.segments >= segments || seen.now - old.evidence_at > kOldTriggerLife ||
               (started_ && !hidden && WellPast(old.segments, seen));
    };
    old_count_ = static_cast<unsigned>(std::remove_if(old_, old_ + old_count_, passed) - old_);
}

void CycleTracker::AddOldTrigger(OldTrigger old) noexcept {
    // The one that was heard of least recently has to go; a running statement's is heard of again and again.
    if (old_count_ == kOldTriggers) {
        const auto earlier = [](const OldTrigger& a, const OldTrigger& b) {
            return a.evidence_at < b.evidence_at;
        };
        OldTrigger* const oldest = std::min_element(old_, old_ + old_count_, earlier);
        std::move(oldest + 1, old_ + old_count_--, oldest);
    }
    old_[old_count_++] = old;
}

// The trigger of whoever asked for the checkpoint that ends the open cycle, where it is not the present one.
Bytes CycleTracker::OlderTrigger(CheckpointCause cause, Lsn redo, Bytes segment_size) const noexcept {
    if (cause == CheckpointCause::kWal && cycle_.smallest_segments < present_segments_ &&
        !ReachedTrigger(cycle_.redo, redo, present_segments_, segment_size))
        return cycle_.smallest_trigger;
    if (cause == CheckpointCause::kStale)
        for (unsigned i = 0; i < old_count_; ++i)
            if (ReachedTrigger(cycle_.redo, redo, old_[i].segments, segment_size))
                return old_[i].segments * segment_size;
    return 0;
}

CheckpointCause CycleTracker::RequestedCause(Lsn old_redo, Lsn redo, std::int64_t segments,
                                             std::int64_t count, Bytes segment_size, Micros now) noexcept {
    // Several checkpoints between two looks share the distance: all are WAL's only if it suffices for all.
    if (ReachedTrigger(old_redo, redo, segments * count, segment_size)) return CheckpointCause::kWal;
    // A count that became visible late may be of an earlier one; nobody doubts a statement that was just
    // heard of.
    const std::int64_t times = cycle_.older_trigger > 0 ? 1 : count;
    for (unsigned i = 0; i < old_count_; ++i) {
        if (!ReachedTrigger(old_redo, redo, old_[i].segments * times, segment_size)) continue;
        old_[i].evidence_at = now;
        return CheckpointCause::kStale;
    }
    return CheckpointCause::kRequest;
}

void CycleTracker::FollowUncut(const Observation& seen) noexcept {
    const bool gone = cycle_.completed && WellPast(cycle_.older_trigger / seen.server.segment_size, seen);
    if (gone) cycle_.older_trigger = 0;
    if (cycle_.older_trigger == 0)
        cycle_.uncut = cycle_;
    else if (seen.now - cycle_.uncut.timer_from >= seen.server.checkpoint_timeout)
        cycle_.uncut = {seen.position, seen.now, seen.now};  // its timer would have come
}

}  // namespace walsizer
