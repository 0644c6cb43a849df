#include "walsizer/journal.hpp"

namespace walsizer {

const char* Name(CheckpointCause cause) noexcept {
    switch (cause) {
        case CheckpointCause::kWal:
            return "wal";
        case CheckpointCause::kTime:
            return "time";
        case CheckpointCause::kRequest:
            return "request";
        case CheckpointCause::kStale:
            return "stale";
    }
    return "unknown";
}

const char* Name(Action action) noexcept {
    switch (action) {
        case Action::kGrow:
            return "grow";
        case Action::kShrink:
            return "shrink";
        case Action::kHold:
            return "hold";
        case Action::kExternal:
            return "external";
        case Action::kBlocked:
            return "blocked";
        case Action::kUndo:
            return "undo";
        case Action::kResume:
            return "resume";
    }
    return "unknown";
}

const char* Name(DecisionCause cause) noexcept {
    switch (cause) {
        case DecisionCause::kAnticipate:
            return "anticipate";
        case DecisionCause::kThreshold:
            return "threshold";
        case DecisionCause::kRatio:
            return "ratio";
        case DecisionCause::kDisk:
            return "disk";
        case DecisionCause::kIdle:
            return "idle";
        case DecisionCause::kManual:
            return "manual";
    }
    return "unknown";
}

const char* Name(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::kNone:
            return nullptr;
        case Outcome::kPending:
            return "pending";
        case Outcome::kEffective:
            return "effective";
        case Outcome::kOverridden:
            return "overridden";
        case Outcome::kFailed:
            return "failed";
        case Outcome::kDryRun:
            return "dry_run";
    }
    return nullptr;
}

const char* Name(Limit limit) noexcept {
    switch (limit) {
        case Limit::kMax:
            return "max";
        case Limit::kDisk:
            return "disk";
        case Limit::kRecoveryTime:
            return "recovery_time";
    }
    return "unknown";
}

void CheckpointCounts::Add(CheckpointCause cause, std::int64_t count) noexcept {
    if (cause == CheckpointCause::kTime) {
        timed += count;
        return;
    }
    requested += count;
    if (cause == CheckpointCause::kWal) wal_forced += count;
    if (cause == CheckpointCause::kStale) stale += count;
}

void CheckpointCounts::Add(const CheckpointCounts& other) noexcept {
    timed += other.timed;
    requested += other.requested;
    wal_forced += other.wal_forced;
    stale += other.stale;
}

}  // namespace walsizer
