// What people ask for: evaluate(), undo(), resume(), reset().
#include "walsizer/tuner.hpp"

namespace walsizer {

CommandResult Tuner::Execute(const Command& command, Journal& journal, Orders& orders) noexcept {
    CommandResult not_yet;
    if (!tracker_.started() || pending_.active) return not_yet;
    switch (command.kind) {
        case CommandKind::kEvaluate:
            return Evaluate(command, journal, orders);
        case CommandKind::kUndo:
            return Undo(command, journal, orders);
        case CommandKind::kResume:
            return Resume(command, journal, orders);
        case CommandKind::kReset:
            return Reset(command, journal, orders);
        case CommandKind::kShrink:
            return Shrink(command, journal, orders);
    }
    return not_yet;
}

CommandResult Tuner::Evaluate(const Command& command, Journal& journal, Orders& orders) noexcept {
    CommandResult result;
    const Race now = race();
    Proposal proposal = JudgeNow(now, tracker_, journal);
    proposal.evidence.Append(" (asked by %s)", command.role.c_str());
    if (proposal.raise && MayChange()) result.decision = Decide(proposal, now, journal, orders);
    if (result.decision != 0) return result;

    UpdateState(journal, orders);
    DecisionRecord record = NewDecision(Action::kHold, DecisionCause::kManual, journal);
    record.wanted_size = proposal.wanted;
    const bool fits = proposal.wanted <= now.size;
    if (fits || state_ == State::kTuning || state_ == State::kDryRun)
        record.reason.Set("max_wal_size stays at %s: %s", SizeText(now.size).c_str(),
                          proposal.evidence.c_str());
    else
        record.reason.Set("max_wal_size stays at %s: %s (asked by %s)", SizeText(now.size).c_str(),
                          StateReason(journal).c_str(), command.role.c_str());
    journal.decisions.Push(record);
    orders.save = true;
    result.decision = record.id;
    return result;
}

CommandResult Tuner::Undo(const Command& command, Journal& journal, Orders& orders) noexcept {
    CommandResult result;
    if (!memory_.original.known) {
        result.refusal.Set("walsizer does not know what max_wal_size was before it");
        result.hint.Set(
            "Nothing was raised by walsizer since it began, or since somebody changed max_wal_size by hand; "
            "if its history file was lost, set the value with ALTER SYSTEM.");
        return result;
    }
    DecisionRecord record = NewDecision(Action::kUndo, DecisionCause::kManual, journal);
    record.new_size = memory_.original.size;
    record.outcome = Outcome::kPending;
    if (memory_.original.had_line)
        record.reason.Set("undone by %s: max_wal_size = '%s' is put back in postgresql.auto.conf",
                          command.role.c_str(), memory_.original.text.c_str());
    else
        record.reason.Set(
            "undone by %s: walsizer's line for max_wal_size is removed from postgresql.auto.conf",
            command.role.c_str());
    journal.decisions.Push(record);
    Hold();
    memory_.held_reason.Set("undo() by %s", command.role.c_str());
    Begin(Change::kRestore, record.id, memory_.original.size, orders);
    orders.AddLog(false)->message.Set("walsizer: max_wal_size %s, %s", SizeText(record.old_size).c_str(),
                                      record.reason.c_str());
    result.decision = record.id;
    // Held from here on, without the warning that announces somebody else's order.
    state_ = settings_.enable ? State::kHeld : State::kDisabled;
    state_since_ = tracker_.latest().wall;
    return result;
}

CommandResult Tuner::Resume(const Command& command, Journal& journal, Orders& orders) noexcept {
    const bool was_held = memory_.held;
    memory_.held = false;
    memory_.held_reason.clear();
    failure_ = Obstacle();
    UpdateState(journal, orders);
    DecisionRecord record = NewDecision(Action::kResume, DecisionCause::kManual, journal);
    record.reason.Set(was_held ? "resumed by %s: walsizer may raise max_wal_size again"
                               : "resume() by %s: walsizer was not held",
                      command.role.c_str());
    journal.decisions.Push(record);
    orders.AddLog(false)->message.Set("walsizer: %s", record.reason.c_str());
    orders.save = true;
    CommandResult result;
    result.decision = record.id;
    return result;
}

// Clears what is shown, never what is needed: the original value, the order to hold, the ids of decisions.
CommandResult Tuner::Reset(const Command& command, Journal& journal, Orders& orders) noexcept {
    const std::int64_t last_id = journal.totals.decisions;
    journal.decisions.Clear();
    journal.windows.Clear();
    journal.checkpoints.Clear();
    journal.buckets.Clear();
    journal.totals = Totals();
    journal.totals.decisions = last_id;
    journal.totals.stats_reset = tracker_.latest().wall;
    memory_.windows_since_change = -1;
    memory_.inherited_from.clear();
    DecisionRecord record = NewDecision(Action::kHold, DecisionCause::kManual, journal);
    record.reason.Set("journal and counters were reset by %s", command.role.c_str());
    journal.decisions.Push(record);
    orders.AddLog(false)->message.Set("walsizer: %s", record.reason.c_str());
    orders.save = true;
    CommandResult result;
    result.decision = record.id;
    return result;
}

}  // namespace walsizer
