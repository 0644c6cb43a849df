// Ceilings in the tuner's life: the volume and its holders, replay, and giving back what walsizer itself
// took.
#include <algorithm>
#include <cstring>

#include "walsizer/tuner.hpp"

namespace walsizer {

namespace {

// Smaller than this, a change of size is not worth a reload.
constexpr double kWorthGivingBack = 7.0 / 8;
// "Far below": less than two thirds of max_wal_size would do.
constexpr double kFarBelow = 2.0 / 3;
// An unbounded holder of less than this part of max_wal_size is a consumer at work.
constexpr Bytes kSlightlyLate = 16;
// Replay has to keep pace this long to count as sustained.
constexpr Micros kSustained = 30 * kSecond;

}  // namespace

bool Identity::SameAs(const Identity& other) const noexcept {
    return system_identifier == other.system_identifier && directory_inode == other.directory_inode &&
           std::strcmp(data_directory.c_str(), other.data_directory.c_str()) == 0;
}

bool Tuner::Identify(const Identity& identity) noexcept {
    const bool inherited = memory_.identity.system_identifier != 0 && !memory_.identity.SameAs(identity);
    if (inherited) memory_.inherited_from = memory_.identity.data_directory;
    memory_.identity = identity;
    if (!inherited) return false;
    memory_.recoveries = RecoverySamples();
    memory_.replay_seen = 0;
    return true;
}

RecoveryModel Tuner::recovery() const noexcept {
    return ModelRecovery(memory_.recoveries, settings_.replay_rate, memory_.replay_seen);
}

LimitFacts Tuner::limit_facts() const noexcept {
    LimitFacts facts;
    facts.settings = settings_;
    facts.server = tracker_.latest().server;
    facts.volume = volume_;
    facts.recovery = recovery();
    facts.present_size = working_size();
    facts.holder_grows = HolderGrows();
    return facts;
}

// Held WAL changes when a checkpoint completes. Twice more in a row is a habit; a consumer that is a little
// late once is none.
void Tuner::FollowVolume() noexcept {
    const Observation& seen = tracker_.latest();
    if (!seen.volume.known) return;
    volume_ = seen.volume;
    const Bytes bytes = volume_.held.bounded ? 0 : volume_.held.bytes;
    const Bytes step = seen.server.segment_size;
    if (bytes < holder_.bytes || bytes == 0) {
        holder_ = {bytes, 0, 0};
    } else if (bytes >= holder_.bytes + step) {
        holder_ = {bytes, holder_.grown + 1, seen.now};
    }
}

bool Tuner::HolderGrows() const noexcept {
    const Observation& seen = tracker_.latest();
    return holder_.grown >= 2 && seen.now - holder_.grown_at < 2 * seen.server.checkpoint_timeout;
}

void Tuner::FollowReplay() noexcept {
    const Observation& seen = tracker_.latest();
    if (!seen.in_recovery || seen.position == 0) {
        streaming_since_ = 0;
        return;
    }
    // Fast replay is catch-up: it shows what the hardware can do. The rate over half a minute is a lower
    // bound.
    if (streaming_since_ == 0 || seen.position < streaming_from_) {
        streaming_since_ = std::max<Micros>(seen.now, 1);
        streaming_from_ = seen.position;
        return;
    }
    const Micros span = seen.now - streaming_since_;
    if (span < kSustained) return;
    const double rate =
        static_cast<double>(seen.position - streaming_from_) * kSecond / static_cast<double>(span);
    memory_.replay_seen = std::max(memory_.replay_seen, rate);
    streaming_since_ = seen.now;
    streaming_from_ = seen.position;
}

// Only walsizer's own growth is given back: never below what was there before it, never below two segments.
Bytes Tuner::LowestSize(Bytes need) const noexcept {
    return std::max({need, memory_.original.size, SmallestMaxWalSize(tracker_.latest().server)});
}

// The disk filled up with other things. First down to the need; below it only when it gets serious.
bool Tuner::GiveBack(Journal& journal, Orders& orders) noexcept {
    const LimitFacts facts = limit_facts();
    if (!memory_.original.known || !tracker_.latest().volume.known || virtual_.size != 0) return false;
    // Lowering while somebody keeps WAL makes more checkpoints, more full-page images and so more WAL to
    // keep. A consumer that is some segments late is none.
    const HeldWal& held = facts.volume.held;
    const bool recyclable =
        !facts.holder_grows && (held.bounded || held.bytes < facts.present_size / kSlightlyLate);
    const Bytes disk = RoundDownToSegments(DiskCeiling(facts), facts.server);
    const Bytes size = facts.present_size;
    if (!recyclable || disk >= size) return false;
    const bool serious = facts.volume.free < DiskReserve(settings_, facts.volume) / 2;
    const Need need = PresentNeed(tracker_, journal);
    const Bytes needed = serious || need.basis == NeedBasis::kProjected ? Bytes{0} : need.size;
    if (!serious && need.basis == NeedBasis::kProjected) return false;
    const Bytes target = LowestSize(std::max(disk, needed));
    const double worth = static_cast<double>(size) * kWorthGivingBack;
    if (target >= size || (static_cast<double>(target) > worth && target != memory_.original.size))
        return false;
    Reason why;
    const Ceiling shown = {std::max(disk, SmallestMaxWalSize(facts.server)), Limit::kDisk, false};
    why.Set("%s; need is %s", Describe(shown, facts).c_str(), SizeText(need.size).c_str());
    Lower(DecisionCause::kDisk, target, why, journal, orders);
    return true;
}

bool Tuner::ShrinkIdle(Journal& journal, Orders& orders) noexcept {
    if (settings_.shrink_after <= 0 || !memory_.original.known || virtual_.size != 0) return false;
    const Bytes peak = PeakDemand(tracker_, journal, settings_.shrink_after);
    if (peak < 0) return false;
    const Bytes size = working_size();
    const Bytes target = LowestSize(SizeFor({static_cast<double>(peak), 0}, tracker_.latest().server));
    if (static_cast<double>(target) > static_cast<double>(size) * kFarBelow) return false;
    Reason why;
    why.Set("for %s no checkpoint_timeout saw more than %s of WAL, which needs %s",
            DurationText(settings_.shrink_after).c_str(), SizeText(peak).c_str(), SizeText(target).c_str());
    Lower(DecisionCause::kIdle, target, why, journal, orders);
    return true;
}

void Tuner::Lower(DecisionCause cause, Bytes size, const Reason& why, Journal& journal,
                  Orders& orders) noexcept {
    DecisionRecord record = NewDecision(Action::kShrink, cause, journal);
    record.new_size = size;
    record.outcome = Outcome::kPending;
    record.reason = why;
    journal.decisions.Push(record);
    orders.AddLog(false)->message.Set("walsizer lowers max_wal_size from %s to %s: %s",
                                      SizeText(record.old_size).c_str(), SizeText(size).c_str(), why.c_str());
    memory_.windows_since_change = -1;
    // All the way back is the original itself, as it was written or not written.
    Begin(size == memory_.original.size ? Change::kRestore : Change::kSet, record.id, size, orders);
}

Text<256> Tuner::ShrinkRefusal(const Journal& journal) const noexcept {
    Text<256> refusal;
    const Need need = PresentNeed(tracker_, journal);
    const Bytes target = LowestSize(need.size);
    if (!memory_.original.known)
        refusal.Set("walsizer has not raised max_wal_size, so there is nothing to give back");
    else if (virtual_.size != 0)
        refusal.Set("walsizer.dry_run is on, so walsizer changes nothing");
    else if (need.basis == NeedBasis::kProjected)
        refusal.Set("the present need is not known yet: %s", StateReason(journal).c_str());
    else if (!MayChange())
        refusal.Set("walsizer changes nothing now (state %s)", Name(state_));
    else if (target >= working_size())
        refusal.Set("max_wal_size %s is not above the present need of %s", SizeText(working_size()).c_str(),
                    SizeText(target).c_str());
    return refusal;
}

CommandResult Tuner::Shrink(const Command& command, Journal& journal, Orders& orders) noexcept {
    CommandResult result;
    result.refusal = ShrinkRefusal(journal);
    if (!result.refusal.empty()) {
        result.hint.Set("walsizer.status shows need, original_size and the state.");
        return result;
    }
    const Need need = PresentNeed(tracker_, journal);
    Reason why;
    why.Set("one checkpoint_timeout saw at most %s of WAL lately, which needs %s (asked by %s)",
            SizeText(static_cast<Bytes>(need.bytes)).c_str(), SizeText(need.size).c_str(),
            command.role.c_str());
    Lower(DecisionCause::kManual, LowestSize(need.size), why, journal, orders);
    result.decision = orders.decision;
    return result;
}

// Somebody edited postgresql.conf or an include. Below walsizer's line in postgresql.auto.conf that would
// silently do nothing.
void Tuner::NoticeFile(Bytes size, const char* where, Journal& journal, Orders& orders) noexcept {
    if (pending_.active) return;  // the caller comes again when it has settled
    const Bytes before = memory_.file_size;
    memory_.file_size = size;
    // Without a line of walsizer's own the edit works by itself, and NoticeOthers() sees it; below a line
    // that somebody wrote before walsizer came it would do nothing without walsizer either.
    if (before == 0 || size == before || !memory_.original.known || memory_.original.had_line) return;
    const Bytes ours = tracker_.latest().server.max_wal_size;
    DecisionRecord record = NewDecision(Action::kExternal, DecisionCause::kManual, journal);
    record.reason.Set("somebody changed max_wal_size from %s to %s in %s", SizeText(before).c_str(),
                      SizeText(size).c_str(), where);
    if (size > before && size <= ours) {
        // The larger of both stays; undo() would now go to the file's value.
        memory_.original.had_line = false;
        memory_.original.text.clear();
        memory_.original.size = size;
        record.outcome = Outcome::kEffective;
        record.reason.Append("; walsizer's %s is larger and stays", SizeText(ours).c_str());
        journal.decisions.Push(record);
        orders.save = true;
        return;
    }
    record.new_size = size;
    if (size < before) {
        Hold();
        memory_.held_reason.Set("somebody lowered max_wal_size to %s in %s", SizeText(size).c_str(), where);
        record.reason.Append(
            ": an order, so walsizer withdraws its own line and holds until walsizer.resume()");
    } else {
        record.reason.Append("; walsizer withdraws its own line and goes on from there");
    }
    Withdraw(record, journal, orders);
    pending_.file_size_before = before;
}

void Tuner::Withdraw(DecisionRecord record, Journal& journal, Orders& orders) noexcept {
    record.outcome = Outcome::kPending;
    WarnOfFatalStart(record.new_size, record.reason, orders);
    journal.decisions.Push(record);
    orders.AddLog(memory_.held)->message.Set("walsizer: %s", record.reason.c_str());
    // A file's value is to work, so no line at all is left, whatever stood there before walsizer.
    memory_.original.had_line = false;
    memory_.original.text.clear();
    memory_.original.size = record.new_size;
    Begin(Change::kRestore, record.id, record.new_size, orders);
}

}  // namespace walsizer
