// What became of changes, what others changed, and the state that all of it adds up to.
#include <algorithm>
#include <cstring>

#include "walsizer/tuner.hpp"

namespace walsizer {

namespace {

// A reload that changed nothing for this long never will.
constexpr Micros kPatience = 10 * kSecond;
// After a failed change nothing is tried until the configuration is read again, or for this long.
constexpr Micros kRetryAfter = kHour;
constexpr Micros kWarnAgainAfter = kHour;

bool SameText(const Text<256>& a, const Text<256>& b) noexcept {
    return std::strcmp(a.c_str(), b.c_str()) == 0;
}

}  // namespace

const char* Name(State state) noexcept {
    switch (state) {
        case State::kStarting:
            return "starting";
        case State::kTuning:
            return "tuning";
        case State::kDryRun:
            return "dry_run";
        case State::kDisabled:
            return "disabled";
        case State::kAtCeiling:
            return "at_ceiling";
        case State::kHeld:
            return "held";
        case State::kBlocked:
            return "blocked";
    }
    return "unknown";
}

DecisionRecord* Tuner::FindDecision(std::int64_t id, Journal& journal) noexcept {
    for (std::uint32_t age = 0; age < journal.decisions.size(); ++age)
        if (journal.decisions.Newest(age).id == id) return &journal.decisions.Newest(age);
    return nullptr;
}

void Tuner::VerifyPending(Journal& journal, Orders& orders) noexcept {
    if (!pending_.active) return;
    const Observation& seen = tracker_.latest();
    const Bytes size = seen.server.max_wal_size;
    const Micros waited = seen.now - pending_.since;
    DecisionRecord* record = FindDecision(pending_.decision, journal);
    // What an undo puts back is whatever the files say; any value but walsizer's own shows that it happened.
    const bool restored = pending_.change == Change::kRestore && size != memory_.last_size;
    if (size == pending_.size || restored) {
        if (record != nullptr) record->outcome = Outcome::kEffective;
        if (size > memory_.last_size) ++journal.totals.raised;
        if (size < memory_.last_size) ++journal.totals.lowered;
        if (pending_.change == Change::kRestore) memory_.original = Original();
        if (pending_.change == Change::kSet) apply_time_ = waited;
        memory_.last_size = size;
        Forget();
        orders.save = true;
        return;
    }
    if (size !=
        memory_.last_size) {  // a third value: somebody else was faster; NoticeOthers() goes on from here
        if (record != nullptr) record->outcome = Outcome::kOverridden;
        Forget();
        orders.save = true;
        return;
    }
    if (waited < kPatience) return;
    memory_.last_error.Set("the server still runs with max_wal_size %s %s after the reload",
                           SizeText(size).c_str(), DurationText(waited).c_str());
    failure_.what = memory_.last_error;
    failure_.hint.Set(
        "Look for a configuration error in the server log, and at pg_file_settings and pg_settings for "
        "what sets max_wal_size.");
    RecordFailure(Outcome::kOverridden, journal, orders);
}

void Tuner::ChangeFailed(const char* error, const char* hint, Journal& journal, Orders& orders) noexcept {
    if (!pending_.active) return;
    memory_.last_error.Set("%s", error);
    failure_.what.Set("%s", error);
    failure_.hint.Set("%s", hint);
    RecordFailure(Outcome::kFailed, journal, orders);
    Forget();  // nothing was written
    UpdateState(journal, orders);
}

void Tuner::RecordFailure(Outcome outcome, Journal& journal, Orders& orders) noexcept {
    if (DecisionRecord* record = FindDecision(pending_.decision, journal); record != nullptr) {
        record->outcome = outcome;
        record->reason.Append("; not applied: %s", failure_.what.c_str());
    }
    ++journal.totals.failed;
    // A withdrawal that failed is due again at the next reload.
    if (pending_.file_size_before != 0) memory_.file_size = pending_.file_size_before;
    pending_.active = false;
    retry_at_ = tracker_.latest().now + kRetryAfter;
    orders.save = true;
}

// A person's value is the new starting point: walsizer's old measure of what was original is void.
void Tuner::TakeAsStart(bool held) noexcept {
    memory_.original = Original();
    memory_.windows_since_change = -1;
    if (held)
        Hold();
    else
        memory_.held = false;
}

void Tuner::Hold() noexcept {
    memory_.held = true;
    memory_.held_since = tracker_.latest().wall;
}

void Tuner::Forget() noexcept {
    pending_.active = false;
    memory_.intended = Change::kNone;
    memory_.intended_size = 0;
}

// The server went down between walsizer's ALTER SYSTEM and the note of its outcome, or its reload applied
// nothing until somebody mended a file.
bool Tuner::AdoptIntention(Journal& journal) noexcept {
    const Bytes size = tracker_.latest().server.max_wal_size;
    // After a restart an undone value is whatever the files say.
    const bool ours = (memory_.intended != Change::kNone && size == memory_.intended_size) ||
                      (memory_.intended == Change::kRestore && !looked_);
    if (ours) {
        ++(size < memory_.last_size ? journal.totals.lowered : journal.totals.raised);
        memory_.last_size = size;
        if (memory_.intended == Change::kRestore) memory_.original = Original();
        if (DecisionRecord* record = FindDecision(memory_.intended_decision, journal); record != nullptr)
            record->outcome = Outcome::kEffective;
    }
    Forget();
    return ours;
}

void Tuner::NoticeOthers(Journal& journal, Orders& orders) noexcept {
    const Bytes size = tracker_.latest().server.max_wal_size;
    const Bytes before = memory_.last_size;
    if (before == 0) memory_.last_size = size;
    if (pending_.active) return;
    if (before == 0 || size == before) {
        if (!looked_) Forget();  // the last life's intention was never carried out
        looked_ = true;
        return;
    }
    looked_ = true;
    if (AdoptIntention(journal)) {
        orders.save = true;
        return;
    }
    const bool lowered = size < before;
    DecisionRecord record = NewDecision(Action::kExternal, DecisionCause::kManual, journal);
    record.old_size = before;
    record.new_size = size;
    record.outcome = Outcome::kEffective;
    record.reason.Set("somebody else %s max_wal_size from %s to %s%s", lowered ? "lowered" : "raised",
                      SizeText(before).c_str(), SizeText(size).c_str(),
                      lowered ? ": an order, so walsizer holds until walsizer.resume() or a raise by hand"
                              : "; walsizer goes on from there");
    WarnOfFatalStart(size, record.reason, orders);
    journal.decisions.Push(record);
    memory_.last_size = size;
    TakeAsStart(lowered);
    if (lowered)
        memory_.held_reason.Set("somebody lowered max_wal_size from %s to %s", SizeText(before).c_str(),
                                SizeText(size).c_str());
    else
        orders.AddLog(false)->message.Set(
            "walsizer goes on from max_wal_size %s, which somebody raised from %s", SizeText(size).c_str(),
            SizeText(before).c_str());
    orders.save = true;
}

// Accepted by a reload, fatal at the next start (xlog.c:ReadControlFile()).
void Tuner::WarnOfFatalStart(Bytes size, Reason& reason, Orders& orders) const noexcept {
    const Bytes smallest = SmallestMaxWalSize(tracker_.latest().server);
    if (size >= smallest) return;
    reason.Append("; the server will not start again with less than two WAL segments (%s)",
                  SizeText(smallest).c_str());
    LogLine* line = orders.AddLog(true);
    line->message.Set(
        "walsizer: max_wal_size was set to %s, and the next start of this server will fail: it must be at "
        "least two WAL segments",
        SizeText(size).c_str());
    line->hint.Set("Set max_wal_size to %s or more before the server is restarted.",
                   SizeText(smallest).c_str());
}

State Tuner::PresentState(const Need& need, const Ceiling& ceiling) const noexcept {
    const Observation& seen = tracker_.latest();
    if (!settings_.enable) return State::kDisabled;
    if (memory_.held) return State::kHeld;
    if (!InTheWay().what.empty()) return State::kBlocked;
    if (virtual_.size != 0) return State::kDryRun;
    const Bytes enough = std::max(ceiling.size, working_size());
    const bool measured = need.basis != NeedBasis::kProjected && need.size > enough;
    const bool cut = cut_wanted_ > enough && seen.now - cut_at_ < seen.server.checkpoint_timeout;
    return measured || cut ? State::kAtCeiling : State::kTuning;
}

void Tuner::UpdateState(Journal& journal, Orders& orders) noexcept {
    const Observation& seen = tracker_.latest();
    if (!failure_.what.empty() && seen.now >= retry_at_) failure_ = Obstacle();
    const Need need = PresentNeed(tracker_, journal);
    const State state = PresentState(need, ceiling());
    // Another obstacle in place of the old one is news, too.
    const bool other_obstacle = state == State::kBlocked && !SameText(InTheWay().what, announced_obstacle_);
    if (state == state_ && !other_obstacle) return;
    if (state == State::kAtCeiling && pending_.active)
        return;  // on its way to the ceiling; told when it is there
    if (state != state_) state_since_ = seen.wall;
    state_ = state;
    if (other_obstacle) {
        announced_obstacle_ = InTheWay().what;
        last_warned_[static_cast<unsigned>(State::kBlocked)] = 0;
    }
    if (state == State::kAtCeiling || state == State::kBlocked || state == State::kHeld)
        AnnounceState(StateReason(journal), need, journal, orders);
}

// One row when such a state begins; one warning an hour at most, however often it begins.
void Tuner::AnnounceState(const Reason& why, const Need& need, Journal& journal, Orders& orders) noexcept {
    const Observation& seen = tracker_.latest();
    const Bytes wanted = std::max(need.size, cut_wanted_);
    Micros& warned = last_warned_[static_cast<unsigned>(state_)];
    const bool news = warned == 0 || seen.now - warned >= kWarnAgainAfter;
    if (state_ != State::kHeld) {  // held has its own row: external or undo
        DecisionRecord record = NewDecision(state_ == State::kBlocked ? Action::kBlocked : Action::kHold,
                                            DecisionCause::kThreshold, journal);
        if (settings_.anticipate) record.cause = DecisionCause::kAnticipate;
        if (state_ == State::kBlocked) record.cause = DecisionCause::kManual;
        record.wanted_size = wanted;
        record.reason = why;
        journal.decisions.Push(record);
        orders.save = true;
    }
    if (!news) return;
    warned = std::max<Micros>(seen.now, 1);
    LogLine* line = orders.AddLog(true);
    line->message.Set("walsizer leaves max_wal_size at %s: %s", SizeText(working_size()).c_str(),
                      why.c_str());
    if (state_ == State::kBlocked) line->hint.Set("%s", InTheWay().hint.c_str());
    if (state_ == State::kHeld)
        line->hint.Set("Run SELECT walsizer.resume() when walsizer may raise it again.");
    if (state_ == State::kAtCeiling) line->hint.Set("%s", Remedy(ceiling(), limit_facts()).c_str());
}

Bytes Tuner::Recommended(const Journal& journal) const noexcept {
    const Need need = PresentNeed(tracker_, journal);
    const Bytes capped = std::min(need.size, ceiling().size);
    // An upper bound is worth telling: walsizer itself goes there in steps.
    const bool told = need.sound || need.basis == NeedBasis::kUpperBound;
    return told ? std::max(working_size(), capped) : working_size();
}

Reason Tuner::StateReason(const Journal& journal) const noexcept {
    Reason reason;
    if (!tracker_.started()) return reason.Set("the first look is still to come");
    const Observation& seen = tracker_.latest();
    const Need need = PresentNeed(tracker_, journal);
    switch (state_) {
        case State::kDisabled:
            return reason.Set("walsizer.enable is off: watching and recording only");
        case State::kHeld:
            return reason.Set("held by an order (%s) until walsizer.resume() or a raise by hand",
                              memory_.held_reason.c_str());
        case State::kBlocked:
            return reason.Set("%s", InTheWay().what.c_str());
        case State::kAtCeiling:
            return reason.Set(
                "%s; need is %s%s", Describe(ceiling(), limit_facts()).c_str(),
                SizeText(std::max(need.size, cut_wanted_)).c_str(),
                need.basis == NeedBasis::kUpperBound ? " at most (measured under frequent checkpoints)" : "");
        default:
            break;
    }
    if (seen.in_recovery && !settings_.tune_standby)
        return reason.Set("in recovery, and walsizer.tune_standby is off: watching only");
    if (seen.in_recovery && !seen.replay_current)
        return reason.Set("in recovery, catching up: waiting for replay to keep pace with the primary");
    const Stretch stretch = tracker_.stretch();
    if (!stretch.complete)
        reason.Set("watching for %s of %s", ClockText(stretch.watched).c_str(),
                   ClockText(seen.server.checkpoint_timeout).c_str());
    else
        reason.Set("one checkpoint_timeout saw at most %s of WAL lately, which needs %s",
                   SizeText(static_cast<Bytes>(need.bytes)).c_str(), SizeText(need.size).c_str());
    if (!memory_.inherited_from.empty())
        reason.Append("; its journal is inherited, this server is a copy of \"%s\"",
                      memory_.inherited_from.c_str());
    if (state_ == State::kDryRun)
        reason.Append("; walsizer.dry_run is on: deciding for a virtual max_wal_size of %s",
                      SizeText(virtual_.size).c_str());
    return reason;
}

}  // namespace walsizer
