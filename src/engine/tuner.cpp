#include "walsizer/tuner.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// A reload reaches idle processes within milliseconds and busy backends at their next command; before one was
// measured, half a second is assumed, and twice the last one afterwards.
constexpr Micros kAssumedReload = kSecond / 2;
constexpr Micros kLongestReload = 10 * kSecond;
constexpr Bytes kSmallestDiskStep = 8;
// While a change is on its way, look often enough to see it arrive.
constexpr Micros kPendingLook = 100 * kMillisecond;

}  // namespace

LogLine* Orders::AddLog(bool warning) noexcept {
    // The last place is reused rather than lost: the newest news matters most.
    LogLine& line = log[std::min(log_count, kLogLines - 1)];
    log_count = std::min(log_count + 1, kLogLines);
    line = LogLine();
    line.warning = warning;
    return &line;
}

void Tuner::Remember(const TunerMemory& memory) noexcept {
    memory_ = memory;
    tracker_.Remember(memory.cycles);
    tracker_.Remember(memory.images);
}

TunerMemory Tuner::memory() const noexcept {
    TunerMemory memory = memory_;
    if (tracker_.started()) memory.cycles = tracker_.memory();
    memory.images = tracker_.images();
    return memory;
}

Bytes Tuner::working_size() const noexcept {
    return virtual_.size != 0 ? virtual_.size : tracker_.latest().server.max_wal_size;
}

Race Tuner::race() const noexcept {
    const CycleStart& cycle =
        virtual_.size != 0 ? static_cast<const CycleStart&>(virtual_) : tracker_.open_cycle();
    return RunRace(working_size(), cycle, tracker_);
}

Micros Tuner::ReloadTime() const noexcept {
    return std::clamp(2 * apply_time_, kAssumedReload, kLongestReload);
}

bool Tuner::MayChange() const noexcept {
    return settings_.enable && !memory_.held && !pending_.active && obstacle_.what.empty() &&
           failure_.what.empty() && (!tracker_.latest().in_recovery || settings_.tune_standby);
}

// Holds, and says so about once an hour; not by the clock, which may be what makes no sense.
Orders Tuner::Puzzled(Orders orders, const Observation& seen) noexcept {
    constexpr std::uint32_t looks_an_hour = kHour / kSecond;
    if (puzzled_++ % looks_an_hour != 0) return orders;
    orders.AddLog(false)->message.Set(
        "walsizer ignores a look at the server that makes no sense: WAL at %llx, redo "
        "point %llx, max_wal_size %lld, segments of %lld bytes",
        static_cast<unsigned long long>(seen.position), static_cast<unsigned long long>(seen.redo),
        static_cast<long long>(seen.server.max_wal_size), static_cast<long long>(seen.server.segment_size));
    return orders;
}

Orders Tuner::Look(const Observation& seen, const TunerSettings& settings, Journal& journal) noexcept {
    Orders orders;
    if (!IsPlausible(seen, tracker_.latest().now)) return Puzzled(orders, seen);
    settings_ = settings;
    const TrackerEvents events = tracker_.Look(seen, journal);
    if (events.window_closed) {
        ++memory_.windows_since_change;
        orders.save = events.window_saw_wal;
    }
    FollowDryRun(events);
    FollowVolume();
    FollowReplay();
    VerifyPending(journal, orders);
    NoticeOthers(journal, orders);
    const Race now = race();
    if (MayChange()) {
        const Proposal proposal = Judge(events, now, journal);
        if (proposal.raise) Decide(proposal, now, journal, orders);
    }
    if (MayChange() && !GiveBack(journal, orders) && events.window_closed) ShrinkIdle(journal, orders);
    if (events.window_closed) virtual_.forced_in_window = 0;
    UpdateState(journal, orders);
    orders.next_look = pending_.active ? kPendingLook : NextLook(now);
    return orders;
}

Proposal Tuner::Judge(const TrackerEvents& events, const Race& race, const Journal& journal) const noexcept {
    const bool dry = virtual_.size != 0;
    Proposal proposal;
    if (tracker_.latest().in_recovery)
        return events.window_closed ? JudgeStandby(race.size, tracker_, journal) : proposal;
    const bool forced_now = dry ? virtual_.forced_now : events.cycle.forced_at_present;
    // A window that closes with this look has taken this look's checkpoints along.
    const std::int64_t forced = dry ? virtual_.forced_in_window
                                    : tracker_.open_window().checkpoints.wal_forced +
                                          (events.window_closed ? events.cycle.settled.wal_forced : 0);
    if (forced_now) proposal = ReactToThreshold(race, forced, tracker_, settings_);
    if (!proposal.raise && events.window_closed && memory_.windows_since_change > 0) {
        const auto windows =
            std::min<std::uint32_t>(static_cast<std::uint32_t>(memory_.windows_since_change), kRecentWindows);
        CheckpointCounts recent = RecentCheckpoints(journal, windows);
        if (dry) recent.wal_forced = std::min(recent.wal_forced, virtual_.forced_in_change);
        proposal = ReactToRatio(race, recent, tracker_, journal, settings_);
    }
    if (proposal.raise || !settings_.anticipate) return proposal;
    // In a dry run the virtual cycle goes on through such checkpoints, and the look ahead sees what comes.
    if (!dry && events.window_closed)
        proposal = OutlastStatement(race, RecentCheckpoints(journal, 1).stale, tracker_, journal);
    if (!dry && !proposal.raise) proposal = SeeThroughStatement(race, tracker_);
    if (!proposal.raise) proposal = Anticipate(race, tracker_, journal, ReloadTime());
    return proposal;
}

std::int64_t Tuner::Decide(const Proposal& proposal, const Race& race, Journal& journal,
                           Orders& orders) noexcept {
    const Ceiling limit = ceiling();
    const Bytes next = std::min(proposal.wanted, proposal.step);
    const Bytes size = std::max(std::min(next, limit.size), SmallestMaxWalSize(tracker_.latest().server));
    if (next > limit.size) {
        cut_wanted_ = proposal.wanted;
        cut_at_ = tracker_.latest().now;
    }
    // Never lower: a value that somebody set above the ceiling stays.
    if (size <= race.size) return 0;
    // The disk ceiling moves with everything that is written to the volume: not every megabyte is worth a
    // reload.
    const bool small = size - race.size < race.size / kSmallestDiskStep;
    if (next > limit.size && limit.governs == Limit::kDisk && small) return 0;
    Raise(proposal, size, limit, race, journal, orders);
    return journal.totals.decisions;
}

DecisionRecord Tuner::NewDecision(Action action, DecisionCause cause, Journal& journal) noexcept {
    const Observation& seen = tracker_.latest();
    const Ceiling limit = ceiling();
    DecisionRecord record;
    record.id = ++journal.totals.decisions;
    record.decided_at = seen.wall;
    record.action = action;
    record.cause = cause;
    record.old_size = record.new_size = working_size();
    record.wanted_size = PresentNeed(tracker_, journal).size;
    record.ceiling = limit.size;
    record.limited_by = limit.governs;
    record.checkpoints = tracker_.open_window().checkpoints;
    record.wal_bytes = race().wal_bytes;
    record.wal_rate = tracker_.pace().steady;
    const WindowRecord window = tracker_.WindowSoFar();
    record.window = {window.length, window.wal_bytes, window.stat_bytes, window.fpi_bytes, window.xids};
    return record;
}

void Tuner::Raise(const Proposal& proposal, Bytes size, const Ceiling& limit, const Race& race,
                  Journal& journal, Orders& orders) noexcept {
    DecisionRecord record = NewDecision(Action::kGrow, proposal.cause, journal);
    const bool dry = virtual_.size != 0;
    record.new_size = size;
    record.wanted_size = proposal.wanted;
    record.outcome = dry ? Outcome::kDryRun : Outcome::kPending;
    record.reason = proposal.evidence;
    if (proposal.wanted > limit.size && size == limit.size)
        record.reason.Append("; %s; need is %s", Describe(limit, limit_facts()).c_str(),
                             SizeText(proposal.wanted).c_str());
    journal.decisions.Push(record);
    orders.AddLog(false)->message.Set("walsizer %s max_wal_size from %s to %s: %s",
                                      dry ? "would raise" : "raises", SizeText(race.size).c_str(),
                                      SizeText(size).c_str(), record.reason.c_str());
    orders.save = true;
    memory_.windows_since_change = -1;
    virtual_.forced_in_change = 0;
    if (dry) {
        virtual_.size = size;
        return;
    }
    Begin(Change::kSet, record.id, size, orders);
}

// From here on until VerifyPending() a change is under way: first on disk, then in the server.
void Tuner::Begin(Change change, std::int64_t decision, Bytes size, Orders& orders) noexcept {
    pending_ = {true, change, decision, size, tracker_.latest().now, 0};
    memory_.intended = change;
    memory_.intended_size = size;
    memory_.intended_decision = decision;
    orders.change = change;
    orders.decision = decision;
    orders.size = size;
    orders.save = true;
}

void Tuner::FollowDryRun(const TrackerEvents& events) noexcept {
    const Observation& seen = tracker_.latest();
    const Cycle& cycle = tracker_.open_cycle();
    virtual_.forced_now = false;
    if (!settings_.dry_run) {
        virtual_ = VirtualCycle();
        return;
    }
    const bool others_changed = memory_.last_size != 0 && memory_.last_size != seen.server.max_wal_size;
    if (virtual_.size == 0 || others_changed) {
        virtual_ = VirtualCycle();
        virtual_.size = seen.server.max_wal_size;
    }
    const bool forced = events.cycle.settled.wal_forced > 0 || events.cycle.settled.stale > 0;
    if (virtual_.redo == 0 || (events.cycle.redo_moved && !forced)) {
        virtual_.redo = cycle.redo;
        virtual_.started_at = cycle.started_at;
        virtual_.timer_from = cycle.timer_from;
        return;
    }
    if (cycle.timer_from > virtual_.timer_from && !events.cycle.redo_moved &&
        cycle.started_at < cycle.timer_from)
        virtual_.timer_from = cycle.timer_from;  // an idle tick
    const bool reached =
        ReachedTrigger(virtual_.redo, seen.position, CheckpointSegments(virtual_.size, seen.server),
                       seen.server.segment_size);
    const bool due = seen.now - virtual_.timer_from >= seen.server.checkpoint_timeout;
    if (!reached && !due) return;
    virtual_.redo = seen.position;
    virtual_.started_at = virtual_.timer_from = seen.now;
    if (reached) {
        virtual_.forced_now = true;
        ++virtual_.forced_in_window;
        ++virtual_.forced_in_change;
    }
}

}  // namespace walsizer
