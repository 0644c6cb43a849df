#include "walsizer/policy.hpp"

#include <algorithm>

namespace walsizer {

namespace {

constexpr Micros kLongestLook = kSecond;
constexpr Micros kShortestLook = 50 * kMillisecond;
// Eight looks on the way to the trigger: three of them are the margin to act in.
constexpr int kLooksToTrigger = 8;
constexpr int kLooksOfMargin = 3;
// A burst may start at any moment between two looks. At this pace (a fast bulk load) it must not cover more
// than half of the way to the trigger before the next look; only very small settings need more than one look
// a second.
constexpr double kSuddenBurst = 128.0 * kMiB;
constexpr Micros kShortestIdleLook = 250 * kMillisecond;
// Before this share of the way nothing is in sight, however fast it goes: commands that checkpoint by
// themselves (DROP DATABASE, CHECKPOINT) write short bursts and end the cycle long before the trigger.
constexpr double kInSight = 0.6;
// PostgreSQL's timer counts whole seconds, so that it may come this much later than it seems: a tie with it
// is lost.
constexpr Micros kTimerGrain = kSecond;
// A raise smaller than an eighth would have to be repeated soon.
constexpr int kSmallestStep = 8;
// One look ahead may double; a reaction comes later and knows a whole cycle, so it may go further.
constexpr int kAnticipateFactor = 2;
constexpr int kReactFactor = 4;
// A projection from at least this part of checkpoint_timeout, with few full-page images that might still
// fade, is believed.
constexpr Micros kBelievedShare = 6;
constexpr double kFewImages = 0.3;

Bytes Grown(Bytes size, const ServerSettings& server) noexcept {
    return RoundUpToSegments(static_cast<double>(size) * (1.0 + 1.0 / kSmallestStep), server);
}

Bytes Times(Bytes size, int factor, const ServerSettings& server) noexcept {
    return RoundUpToSegments(static_cast<double>(size) * factor, server);
}

// A reaction's step. One that stops just short would be followed by one forced checkpoint per window: go all
// the way where that is not much farther, if enough of a timeout was seen to believe the figure.
Bytes ReactStep(Bytes size, Bytes wanted, const Tracker& tracker) noexcept {
    const ServerSettings& server = tracker.latest().server;
    const Bytes step = Times(size, kReactFactor, server);
    const FpiOfCycle images = tracker.LastForcedCycleFpi();
    const bool believed = tracker.last_forced_cycle().elapsed * kBelievedShare >= server.checkpoint_timeout &&
                          images.known && images.share < kFewImages;
    return believed && wanted <= step + step / 2 ? std::max(step, wanted) : step;
}

// What the last forced cycle would have needed to last until the timer.
Bytes SizeOfLastForcedCycle(const Tracker& tracker) noexcept {
    const FinishedCycle& last = tracker.last_forced_cycle();
    const ServerSettings& server = tracker.latest().server;
    const std::int64_t count = std::max<std::int64_t>(last.count, 1);
    const CycleSoFar cycle = {last.wal_bytes / count, last.elapsed / count, tracker.LastForcedCycleFpi()};
    return SizeFor(Project(cycle, server.checkpoint_timeout - cycle.elapsed, tracker.pace()), server);
}

}  // namespace

Race RunRace(Bytes size, const CycleStart& from, const Tracker& tracker) noexcept {
    const Observation& seen = tracker.latest();
    const ServerSettings& server = seen.server;
    const Lsn trigger = TriggerPosition(from.redo, CheckpointSegments(size, server), server.segment_size);
    Race race;
    race.size = size;
    race.wal_bytes = seen.position > from.redo ? static_cast<Bytes>(seen.position - from.redo) : 0;
    race.total = static_cast<Bytes>(trigger - from.redo);
    race.left = trigger > seen.position ? static_cast<Bytes>(trigger - seen.position) : 0;
    race.elapsed = std::max<Micros>(seen.now - from.started_at, 0);
    race.timer_left = CycleTracker::TimerLeft(from.timer_from, seen.now, server.checkpoint_timeout);
    race.pace = tracker.pace().burst;
    const double eta = race.pace > 0 ? static_cast<double>(race.left) / race.pace * kSecond : 0;
    race.eta = race.pace > 0 && eta < static_cast<double>(kNever) ? static_cast<Micros>(eta) : kNever;
    return race;
}

Micros NextLook(const Race& race) noexcept {
    const double sudden = static_cast<double>(race.left) / kSuddenBurst * kSecond / 2;
    const auto idle = std::clamp(static_cast<Micros>(sudden), kShortestIdleLook, kLongestLook);
    return std::clamp(race.eta / kLooksToTrigger, kShortestLook, idle);
}

Proposal Anticipate(const Race& race, const Tracker& tracker, const Journal& journal,
                    Micros reload_time) noexcept {
    Proposal proposal;
    const bool in_sight =
        race.left > 0 && static_cast<double>(race.wal_bytes) >= kInSight * static_cast<double>(race.total);
    const bool near = race.eta <= kLooksOfMargin * NextLook(race) + reload_time;
    const bool before_timer = race.eta < race.timer_left + kTimerGrain;
    if (!in_sight || !near || !before_timer) return proposal;

    const ServerSettings& server = tracker.latest().server;
    const CycleSoFar cycle = {race.wal_bytes, race.elapsed, tracker.OpenCycleFpi()};
    const Bytes projected = SizeFor(Project(cycle, race.timer_left, tracker.pace()), server);
    const Need need = PresentNeed(tracker, journal);
    proposal.raise = true;
    proposal.cause = DecisionCause::kAnticipate;
    proposal.wanted = std::max(
        {projected, need.basis == NeedBasis::kMeasured ? need.size : Bytes{0}, Grown(race.size, server)});
    proposal.step = Times(race.size, kAnticipateFactor, server);
    proposal.evidence.Set(
        "%s of WAL in %s would force a checkpoint before the timer (trigger %s, timer in %s)",
        SizeText(race.wal_bytes).c_str(), DurationText(race.elapsed).c_str(),
        SizeText(TriggerSize(race.size, server)).c_str(), DurationText(race.timer_left).c_str());
    return proposal;
}

Proposal ReactToThreshold(const Race& race, std::int64_t forced, const Tracker& tracker,
                          const TunerSettings& settings) noexcept {
    Proposal proposal;
    if (forced < settings.threshold) return proposal;
    const ServerSettings& server = tracker.latest().server;
    const FinishedCycle& last = tracker.last_forced_cycle();
    proposal.raise = true;
    proposal.cause = DecisionCause::kThreshold;
    proposal.wanted = std::max(SizeOfLastForcedCycle(tracker), Grown(race.size, server));
    proposal.step = ReactStep(race.size, proposal.wanted, tracker);
    proposal.evidence.Set(
        "WAL forced %lld checkpoint%s within one checkpoint_timeout of %s (threshold %d); the last "
        "after %s of WAL in %s (trigger %s)",
        static_cast<long long>(forced), forced == 1 ? "" : "s",
        DurationText(server.checkpoint_timeout).c_str(), settings.threshold, SizeText(last.wal_bytes).c_str(),
        DurationText(last.elapsed).c_str(), SizeText(TriggerSize(race.size, server)).c_str());
    return proposal;
}

CheckpointCounts RecentCheckpoints(const Journal& journal, std::uint32_t windows) noexcept {
    CheckpointCounts recent;
    const std::uint32_t most = std::min(journal.windows.size(), windows);
    for (std::uint32_t age = 0; age < most; ++age) recent.Add(journal.windows.Newest(age).checkpoints);
    return recent;
}

Proposal ReactToRatio(const Race& race, const CheckpointCounts& recent, const Tracker& tracker,
                      const Journal& journal, const TunerSettings& settings) noexcept {
    Proposal proposal;
    // One forced checkpoint alone may be one odd moment; the second one makes it a habit.
    const double accepted = settings.target_ratio * static_cast<double>(recent.effective());
    if (recent.wal_forced < 2 || static_cast<double>(recent.wal_forced) <= accepted) return proposal;
    const Need need = PresentNeed(tracker, journal);
    const ServerSettings& server = tracker.latest().server;
    proposal.wanted =
        std::max(need.basis == NeedBasis::kMeasured ? need.size : Bytes{0}, SizeOfLastForcedCycle(tracker));
    if (proposal.wanted <= race.size) return proposal;
    proposal.raise = true;
    proposal.cause = DecisionCause::kRatio;
    proposal.step = ReactStep(race.size, proposal.wanted, tracker);
    proposal.evidence.Set(
        "WAL forced %lld of the last %lld checkpoints (accepted share %.0f %%); the last after %s "
        "of WAL in %s (trigger %s)",
        static_cast<long long>(recent.wal_forced), static_cast<long long>(recent.effective()),
        settings.target_ratio * 100, SizeText(tracker.last_forced_cycle().wal_bytes).c_str(),
        DurationText(tracker.last_forced_cycle().elapsed).c_str(),
        SizeText(TriggerSize(race.size, server)).c_str());
    return proposal;
}

Proposal SeeThroughStatement(const Race& race, const Tracker& tracker) noexcept {
    Proposal proposal;
    const Cycle& cycle = tracker.open_cycle();
    const ServerSettings& server = tracker.latest().server;
    if (cycle.older_trigger == 0) return proposal;
    const Race uncut = RunRace(race.size, cycle.uncut, tracker);
    // Whether one step spreads a checkpoint beyond the moment at which the statement asks for the next.
    const bool spreads = PacedSize(Times(race.size, kAnticipateFactor, server), server) > cycle.older_trigger;
    if (uncut.left > 0 || !spreads) return proposal;
    const double seen = static_cast<double>(uncut.wal_bytes);
    const double to_come = tracker.pace().steady * static_cast<double>(uncut.timer_left) / kSecond;
    proposal.raise = true;
    proposal.cause = DecisionCause::kAnticipate;
    proposal.wanted = SizeFor({seen, to_come}, server);
    // How long it goes on is not known. With a third as much to come the size is 1.4 times what was needed so
    // far.
    proposal.step = std::min(SizeFor({seen, seen / 3}, server), Times(race.size, kAnticipateFactor, server));
    proposal.evidence.Set(
        "%s of WAL in %s reached the trigger (%s), while a statement that still has an older one forces "
        "checkpoints",
        SizeText(uncut.wal_bytes).c_str(), DurationText(uncut.elapsed).c_str(),
        SizeText(TriggerSize(race.size, server)).c_str());
    return proposal;
}

Proposal OutlastStatement(const Race& race, std::int64_t stale, const Tracker& tracker,
                          const Journal& journal) noexcept {
    Proposal proposal;
    const Need need = PresentNeed(tracker, journal);
    // A single one may be a command's that came at that distance.
    if (stale < 2 || need.basis == NeedBasis::kProjected || need.size <= race.size) return proposal;
    const ServerSettings& server = tracker.latest().server;
    proposal.raise = true;
    proposal.cause = DecisionCause::kAnticipate;
    proposal.wanted = need.size;
    proposal.step = Times(race.size, kAnticipateFactor, server);
    proposal.evidence.Set(
        "%s of WAL fell into one checkpoint_timeout of %s (trigger %s) while a statement that began before "
        "the last raise forced %lld checkpoints at its old trigger",
        SizeText(static_cast<Bytes>(need.bytes)).c_str(), DurationText(server.checkpoint_timeout).c_str(),
        SizeText(TriggerSize(race.size, server)).c_str(), static_cast<long long>(stale));
    return proposal;
}

Proposal JudgeStandby(Bytes size, const Tracker& tracker, const Journal& journal) noexcept {
    Proposal proposal;
    const Need need = PresentNeed(tracker, journal);
    if (need.basis == NeedBasis::kProjected || need.size <= size) return proposal;
    proposal.raise = true;
    proposal.cause = DecisionCause::kAnticipate;
    proposal.wanted = proposal.step = need.size;
    proposal.evidence.Set(
        "replay streamed %s of WAL in one checkpoint_timeout of %s; promoted, this server needs %s",
        SizeText(static_cast<Bytes>(need.bytes)).c_str(),
        DurationText(tracker.latest().server.checkpoint_timeout).c_str(), SizeText(need.size).c_str());
    return proposal;
}

Bytes PeakDemand(const Tracker& tracker, const Journal& journal, Micros span) noexcept {
    Bytes peak = tracker.open_window().peak;
    Micros covered = 0;
    for (std::uint32_t age = 0; age < journal.windows.size() && covered < span; ++age) {
        const WindowRecord& window = journal.windows.Newest(age);
        peak = std::max({peak, window.peak, window.wal_bytes});
        covered += window.length;
    }
    return covered >= span ? peak : Bytes{-1};
}

Proposal JudgeNow(const Race& race, const Tracker& tracker, const Journal& journal) noexcept {
    Proposal proposal;
    const Need need = PresentNeed(tracker, journal);
    const ServerSettings& server = tracker.latest().server;
    const char* basis = need.basis == NeedBasis::kMeasured ? "measured"
                        : need.basis == NeedBasis::kUpperBound
                            ? "at most, measured under frequent checkpoints"
                            : "projected";
    const bool believed =
        need.sound && (!tracker.latest().in_recovery || need.basis != NeedBasis::kProjected);
    proposal.raise = need.size > race.size && believed;
    proposal.cause = DecisionCause::kManual;
    proposal.wanted = need.size;
    // A projection moves in steps, as it does when a checkpoint nears.
    proposal.step =
        need.basis == NeedBasis::kMeasured ? need.size : Times(race.size, kAnticipateFactor, server);
    proposal.evidence.Set("one checkpoint_timeout of %s sees %s of WAL (%s), which needs %s",
                          DurationText(server.checkpoint_timeout).c_str(),
                          SizeText(static_cast<Bytes>(need.bytes)).c_str(), basis,
                          SizeText(need.size).c_str());
    return proposal;
}

}  // namespace walsizer
