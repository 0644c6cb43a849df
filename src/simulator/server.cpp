#include "simulator/server.hpp"

#include <algorithm>

namespace walsizer::simulator {

namespace {

constexpr Micros kBegin = 1000 * kSecond;
constexpr Timestamp kWallAtBegin = Timestamp{800'000'000} * kSecond;
constexpr Lsn kFirstWal = 3 * kGiB;
// checkpointer.c:CheckpointWriteDelay() sleeps this long after a page while it is on schedule.
constexpr Micros kNap = 100 * kMillisecond;
// Pending counters are published by the first such nap.
constexpr Micros kCountersLate = kNap;
// What a recovery costs beside replay.
constexpr Micros kRecoveryFixed = kSecond;

}  // namespace

SimulatedServer::SimulatedServer(const Trace& trace)
    : trace_(trace),
      settings_(trace.server),
      paper_(trace.server, kFirstWal, kBegin),
      wal_(kFirstWal, trace.min_wal_size, trace.server),
      completed_redo_(kFirstWal),
      server_start_(kWallAtBegin) {
    limits_.settings = trace.tuner;
    limits_.server = trace.server;
    limits_.recovery.rate = trace.replay_rate;
    // Only a crash shows that rate, and what was measured has a margin; until then one is assumed. Nobody lowers,
    // so the larger ceiling of the two is the one that counts.
    const auto crash = [](const TraceStep& step) { return step.kind == TraceStep::Kind::kCrash; };
    if (std::any_of(trace.steps.begin(), trace.steps.end(), crash))
        limits_.recovery.rate =
            std::max(trace.replay_rate / kMeasuredMargin, ModelRecovery(RecoverySamples(), 0, 0).rate);
    counters_.known = true;
    counters_.reset_at = kWallAtBegin;
    counters_before_ = counters_;
    Enter(0);
}

void SimulatedServer::Enter(std::size_t step) {
    step_ = step;
    const bool lasts = !Finished() && trace_.steps[step_].kind == TraceStep::Kind::kLoad;
    left_ = lasts ? trace_.steps[step_].time : 0;
}

const PaperLoad& SimulatedServer::NextLoad() const {
    for (std::size_t step = step_ + 1; step < trace_.steps.size(); ++step)
        if (trace_.steps[step].kind == TraceStep::Kind::kLoad) return trace_.steps[step].load;
    return load();
}

void SimulatedServer::Advance(Micros to) {
    while (!Finished() && now() < to) {
        const TraceStep& step = trace_.steps[step_];
        if (step.kind != TraceStep::Kind::kLoad) {
            Command(step);
            Enter(step_ + 1);
            continue;
        }
        const Bytes size = settings_.max_wal_size;
        const PaperStep lived = paper_.Advance(step.load, NextStop(to) - now());
        left_ -= lived.elapsed;
        Account(lived.elapsed, size);
        if (lived.event != PaperEvent::kNone) CheckpointStarts(lived);
        Arrive();
        if (left_ == 0) Enter(step_ + 1);
    }
}

Micros SimulatedServer::NextStop(Micros to) const {
    Micros stop = std::min(to, now() + left_);
    if (!reloads_.empty()) stop = std::min(stop, reloads_.front().first);
    if (statement_until_ > now()) stop = std::min(stop, statement_until_);
    if (writing_) stop = std::min(stop, now() + WriteEnds(stop - now()));
    return std::max(stop, now());
}

// checkpointer.c:IsCheckpointOnSchedule(): as far along as WAL or time is, whichever is ahead, but no faster
// than storage writes.
Micros SimulatedServer::WriteEnds(Micros most) const {
    const Micros since = now() - paper_.redo_at();
    const Micros least = std::max<Micros>(paced_least_ - since, 0);
    if (fast_) return std::min(least, most);
    const double target = settings_.completion_target;
    const auto by_time =
        static_cast<Micros>(target * static_cast<double>(settings_.checkpoint_timeout)) - since;
    const auto by_wal = static_cast<double>(PacedSize(settings_.max_wal_size, settings_));
    const double written = static_cast<double>(paper_.position() - paper_.redo());
    const Micros wal = paper_.TimeFor(by_wal - written, load(), most);
    Micros paced = std::max<Micros>(std::min(by_time, paced_most_ - since), 0);
    if (wal >= 0) paced = std::min(paced, wal);
    return std::min(std::max(paced, least), most);
}

void SimulatedServer::Account(Micros elapsed, Bytes size_meanwhile) {
    wal_.WrittenTo(paper_.position());
    figures_.byte_hours += static_cast<double>(size_meanwhile) * static_cast<double>(elapsed) / kHour;
    figures_.record_bytes = paper_.record_bytes();
    figures_.image_bytes = paper_.image_bytes();
    figures_.largest_wal_dir = std::max(figures_.largest_wal_dir, wal_.size());
    const double replay = static_cast<double>(paper_.position() - completed_redo_) / trace_.replay_rate;
    figures_.longest_recovery =
        std::max(figures_.longest_recovery, static_cast<Micros>(replay * kSecond) + kRecoveryFixed);
    // What the DBA began with is nobody's violation.
    if (size_meanwhile > trace_.server.max_wal_size && size_meanwhile > TrueCeiling())
        figures_.in_violation += elapsed;
}

Bytes SimulatedServer::TrueCeiling() const {
    if (trace_.disk_size == 0) return PresentCeiling(limits_).size;
    LimitFacts limits = limits_;
    limits.volume = Volume();
    return PresentCeiling(limits).size;
}

void SimulatedServer::CheckpointStarts(const PaperStep& step) {
    counters_before_ = counters_;
    counters_at_ = now() + kCountersLate;
    switch (step.event) {
        case PaperEvent::kForced:
            ++figures_.forced;
            ++counters_.requested;
            break;
        case PaperEvent::kRequested:
            ++figures_.requested;
            ++counters_.requested;
            break;
        case PaperEvent::kTimed:
            ++figures_.timed;
            ++counters_.timed;
            break;
        default:
            ++figures_.skipped;
            ++counters_.timed;
            return;
    }
    const double pages = step.touched_pages;
    counters_.buffers_written += static_cast<std::int64_t>(pages);
    writing_ = true;
    fast_ = step.event == PaperEvent::kRequested;
    paced_least_ = static_cast<Micros>(pages / trace_.write_rate * kSecond);
    paced_most_ = std::max(paced_least_, static_cast<Micros>(pages * kNap));
    distance_ = static_cast<double>(step.wal_bytes);
    paper_.BusyUntil(now() + 365 * 24 * kHour);
}

void SimulatedServer::CheckpointEnds() {
    writing_ = false;
    paper_.BusyUntil(now());
    completed_redo_ = paper_.redo();
    counters_.write_time += static_cast<double>(now() - paper_.redo_at()) / kMillisecond;
    wal_.Recycle(completed_redo_, static_cast<Bytes>(distance_), paper_.position(), settings_);
}

// What is due at this moment.
void SimulatedServer::Arrive() {
    for (; !reloads_.empty() && reloads_.front().first <= now(); reloads_.pop_front())
        settings_.max_wal_size = reloads_.front().second;
    // A statement that runs keeps the trigger it began with.
    if (now() >= statement_until_) paper_.Reload(settings_);
    if (writing_ && WriteEnds(1) == 0) CheckpointEnds();
}

void SimulatedServer::Command(const TraceStep& step) {
    switch (step.kind) {
        case TraceStep::Kind::kCheckpoint:
            paper_.Request();
            fast_ = true;  // one that runs is hurried, too
            break;
        case TraceStep::Kind::kStatement:
            statistics_before_ = Observe().wal;
            statement_until_ = now() + step.time;
            break;
        case TraceStep::Kind::kCrash:
            Recover();
            break;
        case TraceStep::Kind::kLoad:
            break;
    }
}

// Replays from the last completed checkpoint, then makes one of its own that no counter shows; the others are
// lost. The clients wait.
void SimulatedServer::Recover() {
    const Bytes bytes = static_cast<Bytes>(paper_.position() - completed_redo_);
    const Micros time =
        static_cast<Micros>(static_cast<double>(bytes) / trace_.replay_rate * kSecond) + kRecoveryFixed;
    const Bytes size = settings_.max_wal_size;
    settings_.max_wal_size = reloads_.empty() ? size : reloads_.back().second;
    reloads_.clear();
    statement_until_ = now();
    writing_ = false;
    paper_.Recovered(time);
    paper_.Reload(settings_);
    completed_redo_ = paper_.redo();
    wal_.Recycle(completed_redo_, bytes, paper_.position(), settings_);
    Account(time, size);
    figures_.downtime += time;
    server_start_ = kWallAtBegin + now();
    counters_ = CheckpointCounters();
    counters_.known = true;
    counters_.reset_at = server_start_;
    counters_before_ = counters_;
    last_recovery_ = {bytes, time};
    ++lives_;
}

Observation SimulatedServer::Observe() const {
    Observation seen;
    seen.now = now();
    seen.wall = kWallAtBegin + now();
    seen.server_start = server_start_;
    seen.position = paper_.position();
    seen.redo = paper_.redo();
    seen.redo_age = now() - paper_.redo_at();
    seen.server = settings_;
    seen.counters = now() >= counters_at_ ? counters_ : counters_before_;
    if (now() < statement_until_) {
        seen.wal = statistics_before_;
    } else {
        seen.wal.known = true;
        seen.wal.fpi_bytes = static_cast<Bytes>(paper_.image_bytes());
        seen.wal.bytes = static_cast<Bytes>(paper_.record_bytes() + paper_.image_bytes());
    }
    if (trace_.disk_size > 0) seen.volume = Volume();
    return seen;
}

VolumeFacts SimulatedServer::Volume() const {
    VolumeFacts volume;
    volume.known = true;
    volume.size = trace_.disk_size;
    volume.wal_dir_size = wal_.size();
    volume.free = std::max<Bytes>(trace_.disk_size - trace_.disk_used - wal_.size(), 0);
    return volume;
}

}  // namespace walsizer::simulator
