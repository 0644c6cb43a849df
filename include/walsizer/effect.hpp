// What a change of max_wal_size brought: the windows before it against those after it, and a verdict in words
// where they carry one.
//
// Changes that follow each other so closely that no whole window fits between them (a rise to meet a load
// takes three to five raises in 20 s) have one effect: it stands at the last of them, measured from before
// the first.
#pragma once

#include "walsizer/journal.hpp"

namespace walsizer {

// One or more windows taken together, or the part of one before a decision in it.
struct Measures {
    Timestamp start = 0;
    Timestamp end = 0;
    Micros length = 0;  // 0: nothing was recorded
    CheckpointCounts checkpoints;
    Bytes wal_bytes = 0;
    Bytes stat_bytes = -1;  // -1 unknown, as in WindowRecord
    Bytes fpi_bytes = -1;
    std::int64_t xids = -1;
    double write_time = -1;  // milliseconds, all checkpoints together; -1 unknown
    double sync_time = -1;

    void Add(const WindowRecord& window) noexcept;

    bool recorded() const noexcept { return length > 0; }
    double WalRate() const noexcept;            // bytes/s
    double WalPerTransaction() const noexcept;  // bytes; -1: unknown, or too few to tell
    // Of the WAL in the statistics; -1 where they do not cover it: a statement's figures arrive when it ends.
    double FpiShare() const noexcept;
    Micros TimePerCheckpoint() const noexcept;  // -1 without a checkpoint
};

// A window that was cut short (restart, promotion), or is still open, is no measure of one.
bool IsWhole(const WindowRecord& window) noexcept;

// Windows that are taken together on each side, where there are as many; none begins or ends further from the
// change than kRecentWindows.
inline constexpr std::uint32_t kEffectWindows = 3;

struct EffectFacts {
    const Journal& journal;
    Timestamp now = 0;
    Timestamp open_window_start = 0;  // 0: nobody is watching
    Timestamp open_window_due = 0;
};

struct Effect {
    bool applied = false;       // false: the decision changed nothing, and there is nothing to tell
    std::uint32_t changes = 1;  // judged together
    bool judged_here = true;    // this is the last of them; the figures stand here
    Measures before;
    Measures after;
    Reason verdict;
};

// The effect of the decision `age` places before the newest.
Effect EffectOf(const EffectFacts& facts, std::uint32_t age) noexcept;

}  // namespace walsizer
