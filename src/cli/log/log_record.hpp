// A log's checkpoints as the records that the engine keeps of a server: buckets of WAL, which it can replay,
// and windows, which its advice is about.
#pragma once

#include <vector>

#include "cli/advice.hpp"
#include "walsizer/journal.hpp"

namespace walsizer::cli {

class LogRecord {
  public:
    // `history` in order of time. A log tells WAL per checkpoint and not when in between it was written: it
    // is spread evenly.
    LogRecord(const std::vector<Checkpoint>& history, const ServerSettings& server, bool standby);
    LogRecord(const LogRecord&) = delete;

    // One for each checkpoint whose interval and WAL the log tells; the newest ones when there are very many.
    const Ring<WalBucket>& buckets() const { return buckets_; }
    // Windows that end with the log, as far as the engine's "lately" reaches, and the checkpoints.
    const Journal& journal() const { return journal_; }
    Timestamp end() const { return end_; }

  private:
    void AddBucket(const Checkpoint& checkpoint);
    void AddToWindows(const Checkpoint& checkpoint);
    void AddRow(const Checkpoint& checkpoint);
    void CloseWindows();

    ServerSettings server_;
    bool standby_;
    Timestamp end_ = 0;
    std::vector<WindowRecord> open_;  // newest first

    std::vector<WalBucket> bucket_slots_;
    std::vector<WindowRecord> window_slots_;
    std::vector<CheckpointRecord> row_slots_;
    DecisionRecord decision_;
    std::uint64_t written_[4] = {};
    Totals totals_;
    Ring<WalBucket> buckets_;
    Journal journal_;
};

}  // namespace walsizer::cli
