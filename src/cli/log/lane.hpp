// Puts a checkpointer's lines together: "starting" and "complete", "too frequently" and its hint.
#pragma once

#include <functional>
#include <optional>

#include "cli/log/event.hpp"

namespace walsizer::cli {

struct LoggedCheckpoint {
    std::optional<Instant> at;  // its start
    std::optional<Instant> completed;
    Cause cause = Cause::kUnknown;
    bool started = false;       // its "starting" line was seen
    std::int64_t seconds = -1;  // since the one before, where the log says so
    CheckpointFigures figures;
    bool broken_off = false;  // nothing is known of what came before it
};

// One process's lines, in order of time. A server has one checkpointer at a time, so that two processes which
// take turns are two servers.
class Lane {
  public:
    using Sink = std::function<void(const LoggedCheckpoint&)>;

    Lane(std::int64_t pid, Sink sink) : pid_(pid), sink_(std::move(sink)) {}

    std::int64_t pid() const { return pid_; }
    void Take(Event event);
    // Nothing more belongs to what was seen so far: the end, a restart, a gap.
    void Break();

  private:
    void TakeFrequent(const Event& event);
    void TakeHint(const Event& event);
    void TakeStart(const Event& event);
    void TakeComplete(const Event& event);
    void Emit(LoggedCheckpoint checkpoint);
    void FlushFrequent();
    void FlushOpen();

    std::int64_t pid_;
    Sink sink_;
    std::optional<LoggedCheckpoint> open_;      // started, not yet complete
    std::optional<LoggedCheckpoint> frequent_;  // "too frequently", its start is to follow
    std::optional<Instant> unhinted_;           // the last "too frequently" whose hint was not seen
    std::optional<Instant> latest_;
    Micros day_shift_ = 0;
    bool broken_ = true;
};

}  // namespace walsizer::cli
