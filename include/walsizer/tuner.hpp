// The engine's front door: one look in, at most one change of max_wal_size out.
//
//   observe -> [ Tracker accounts -> policy proposes -> ceiling caps -> Tuner decides ] -> apply -> report
//   back
//
// A Tuner is a plain value of a few kilobytes: it lives in shared memory, never allocates, never throws,
// holds no clock. The caller serialises access and carries out the orders.
#pragma once

#include "walsizer/limits.hpp"
#include "walsizer/policy.hpp"

namespace walsizer {

enum class State : std::uint8_t {
    kStarting,
    kTuning,
    kDryRun,
    kDisabled,
    kAtCeiling,
    kHeld,
    kBlocked,
};
const char* Name(State state) noexcept;

enum class Change : std::uint8_t { kNone, kSet, kRestore };  // kRestore: put the original back

// What stood in postgresql.auto.conf before walsizer's first raise, so that undo() can put back exactly that.
struct Original {
    bool known = false;
    bool had_line = false;  // false: no line for max_wal_size; undo() removes walsizer's
    Text<64> text;          // the line's value as written, e.g. 1GB
    Bytes size = 0;         // max_wal_size that was in effect
};

// Where this history was written. A clone, a restored backup or a server after pg_rewind is elsewhere.
struct Identity {
    std::uint64_t system_identifier = 0;  // 0: unknown
    std::uint64_t directory_inode = 0;
    Text<256> data_directory;

    bool SameAs(const Identity& other) const noexcept;
};

// Survives a restart, in the history file. Append fields at the end.
struct TunerMemory {
    Original original;
    Identity identity;
    RecoverySamples recoveries;
    Bytes last_size = 0;  // the last max_wal_size seen; 0: none yet
    CycleMemory cycles;
    Timestamp held_since = 0;
    // Whole windows since max_wal_size last changed; -1 while the window of the change is open. Older windows
    // say nothing about the present value.
    std::int32_t windows_since_change = 0;
    // What the configuration files say of max_wal_size apart from postgresql.auto.conf; 0: not looked yet.
    Bytes file_size = 0;
    // A change that was begun and whose outcome was not seen: when it shows after a crash, or after a broken
    // file was mended, it is recognised as walsizer's own.
    Bytes intended_size = 0;
    std::int64_t intended_decision = 0;
    Change intended = Change::kNone;
    double replay_seen = 0;    // bytes/s: the fastest sustained replay as a standby
    Text<256> inherited_from;  // the data directory where the journal began, when this server is a copy
    Reason held_reason;
    Text<256> last_error;
    bool held = false;
    ImageProfile images;  // learned from this server's cycles
};

struct LogLine {
    bool warning = false;  // else LOG
    Text<480> message;
    Text<256> detail;
    Text<256> hint;
};

// What the caller has to do, in this order: log, save the history, then change and report.
struct Orders {
    static constexpr unsigned kLogLines = 4;

    Change change = Change::kNone;
    std::int64_t decision = 0;
    Bytes size = 0;
    bool save = false;  // write the history file
    Micros next_look = kSecond;
    unsigned log_count = 0;
    LogLine log[kLogLines];

    LogLine* AddLog(bool warning) noexcept;
};

// Why a change cannot work at all, found before trying. Empty: nothing in the way.
struct Obstacle {
    Text<256> what;
    Text<256> hint;
};

enum class CommandKind : std::uint8_t { kEvaluate, kUndo, kResume, kReset, kShrink };

struct Command {
    CommandKind kind = CommandKind::kEvaluate;
    Text<64> role;
};

// Neither a decision nor a refusal: not yet, ask again after the next look.
struct CommandResult {
    std::int64_t decision = 0;  // 0: none was made
    Text<256> refusal;
    Text<256> hint;

    bool empty() const noexcept { return decision == 0 && refusal.empty(); }
};

class Tuner {
  public:
    // Before the first look: what the history file held.
    void Remember(const TunerMemory& memory) noexcept;
    // After Remember(): true when the history came from elsewhere; what was learned there is dropped.
    bool Identify(const Identity& identity) noexcept;
    void LearnRecovery(const RecoverySample& sample) noexcept { memory_.recoveries.Add(sample); }
    TunerMemory memory() const noexcept;

    Orders Look(const Observation& seen, const TunerSettings& settings, Journal& journal) noexcept;

    // A person asked. The decision may still be pending when this returns; see Settled(). The result is empty
    // before the first look and while an earlier change is under way.
    CommandResult Execute(const Command& command, Journal& journal, Orders& orders) noexcept;
    bool Settled() const noexcept { return !pending_.active; }

    // Before a change: what is in the way, as far as the caller can tell. Only differences are recorded.
    void SetObstacle(const Obstacle& obstacle) noexcept { obstacle_ = obstacle; }
    // The configuration was read again: what failed before may work now.
    void ConfigurationReloaded() noexcept { retry_at_ = 0; }

    // The configuration files, apart from walsizer's own line, say `size` now; `where` is file:line. An edit
    // that walsizer's line would hide must work all the same.
    void NoticeFile(Bytes size, const char* where, Journal& journal, Orders& orders) noexcept;

    // During a change.
    bool NeedsOriginal() const noexcept { return !memory_.original.known; }
    void RememberOriginal(const Original& original) noexcept { memory_.original = original; }
    void ChangeFailed(const char* error, const char* hint, Journal& journal, Orders& orders) noexcept;

    // The observer stops in an orderly way: end the open window.
    void Stop(Journal& journal) noexcept { tracker_.CloseWindow(journal); }

    // For show.
    State state() const noexcept { return state_; }
    Timestamp state_since() const noexcept { return state_since_; }
    Reason StateReason(const Journal& journal) const noexcept;
    const Tracker& tracker() const noexcept { return tracker_; }
    LimitFacts limit_facts() const noexcept;
    Ceiling ceiling() const noexcept { return PresentCeiling(limit_facts()); }
    Need need(const Journal& journal) const noexcept { return PresentNeed(tracker_, journal); }
    Bytes Recommended(const Journal& journal) const noexcept;
    // Why shrink() would change nothing now. Empty: it would give growth back.
    Text<256> ShrinkRefusal(const Journal& journal) const noexcept;
    Bytes working_size() const noexcept;  // max_wal_size; in a dry run the virtual one
    Race race() const noexcept;
    const Original& original() const noexcept { return memory_.original; }
    const VolumeFacts& volume() const noexcept { return volume_; }
    RecoveryModel recovery() const noexcept;
    const RecoverySamples& recoveries() const noexcept { return memory_.recoveries; }

  private:
    struct Pending {
        bool active = false;
        Change change = Change::kNone;
        std::int64_t decision = 0;
        Bytes size = 0;
        Micros since = 0;
        Bytes file_size_before = 0;  // a withdrawal: what the files said before somebody edited them
    };
    // In a dry run the server's redo point moves when the real, smaller trigger says so; this one does not.
    struct VirtualCycle : CycleStart {
        Bytes size = 0;  // 0: no dry run
        std::int64_t forced_in_window = 0;
        std::int64_t forced_in_change = 0;
        bool forced_now = false;
    };

    // Who holds WAL, and whether it grows from checkpoint to checkpoint.
    struct HolderWatch {
        Bytes bytes = 0;
        int grown = 0;  // times in a row
        Micros grown_at = 0;
    };

    Orders Puzzled(Orders orders, const Observation& seen) noexcept;
    void FollowDryRun(const TrackerEvents& events) noexcept;
    void FollowVolume() noexcept;
    void FollowReplay() noexcept;
    bool HolderGrows() const noexcept;
    bool GiveBack(Journal& journal, Orders& orders) noexcept;
    bool ShrinkIdle(Journal& journal, Orders& orders) noexcept;
    Bytes LowestSize(Bytes need) const noexcept;
    void Lower(DecisionCause cause, Bytes size, const Reason& why, Journal& journal, Orders& orders) noexcept;
    void Begin(Change change, std::int64_t decision, Bytes size, Orders& orders) noexcept;
    void Forget() noexcept;
    bool AdoptIntention(Journal& journal) noexcept;
    void Withdraw(DecisionRecord record, Journal& journal, Orders& orders) noexcept;
    void VerifyPending(Journal& journal, Orders& orders) noexcept;
    void NoticeOthers(Journal& journal, Orders& orders) noexcept;
    void UpdateState(Journal& journal, Orders& orders) noexcept;
    Proposal Judge(const TrackerEvents& events, const Race& race, const Journal& journal) const noexcept;
    std::int64_t Decide(const Proposal& proposal, const Race& race, Journal& journal,
                        Orders& orders) noexcept;
    void Raise(const Proposal& proposal, Bytes size, const Ceiling& limit, const Race& race, Journal& journal,
               Orders& orders) noexcept;
    DecisionRecord NewDecision(Action action, DecisionCause cause, Journal& journal) noexcept;
    DecisionRecord* FindDecision(std::int64_t id, Journal& journal) noexcept;
    void Hold() noexcept;
    void TakeAsStart(bool held) noexcept;
    void RecordFailure(Outcome outcome, Journal& journal, Orders& orders) noexcept;
    void WarnOfFatalStart(Bytes size, Reason& reason, Orders& orders) const noexcept;
    State PresentState(const Need& need, const Ceiling& ceiling) const noexcept;
    void AnnounceState(const Reason& why, const Need& need, Journal& journal, Orders& orders) noexcept;
    const Obstacle& InTheWay() const noexcept { return obstacle_.what.empty() ? failure_ : obstacle_; }
    CommandResult Evaluate(const Command& command, Journal& journal, Orders& orders) noexcept;
    CommandResult Undo(const Command& command, Journal& journal, Orders& orders) noexcept;
    CommandResult Resume(const Command& command, Journal& journal, Orders& orders) noexcept;
    CommandResult Reset(const Command& command, Journal& journal, Orders& orders) noexcept;
    CommandResult Shrink(const Command& command, Journal& journal, Orders& orders) noexcept;
    bool MayChange() const noexcept;
    Micros ReloadTime() const noexcept;

    Tracker tracker_;
    TunerMemory memory_;
    TunerSettings settings_;
    Pending pending_;
    VirtualCycle virtual_;
    VolumeFacts volume_;
    HolderWatch holder_;
    Micros streaming_since_ = 0;  // in recovery: replay has kept up, or caught up, without a break since then
    Lsn streaming_from_ = 0;
    Obstacle obstacle_;
    Obstacle failure_;  // the last change failed so; until retry_at_, or the next reload
    Text<256> announced_obstacle_;
    Micros retry_at_ = 0;
    Bytes cut_wanted_ = 0;  // a raise that was due asked for more than the ceiling
    Micros cut_at_ = 0;
    Micros apply_time_ = 0;  // how long the last change took to work
    std::uint32_t puzzled_ = 0;
    bool looked_ = false;  // past the first look
    State state_ = State::kStarting;
    Timestamp state_since_ = 0;
    Micros last_warned_[8] = {};
};

}  // namespace walsizer
