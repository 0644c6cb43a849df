// A checkpointer on paper: when PostgreSQL would start its checkpoints under a given load, and how much WAL
// that makes. Event-driven: time moves in one step to the next checkpoint or to the end of the load.
//
// WAL is records plus full-page images. A page is logged whole at its first change after a redo point
// (xloginsert.c:XLogRecordAssemble()), so images fade while a cycle lasts: of W pages that are changed at
// random q times a second, W * (1 - exp(-q t / W)) were logged whole after t seconds. Several sets of pages,
// each with its own share of the changes, make up a skewed load.
#pragma once

#include "walsizer/postgres_rules.hpp"
#include "walsizer/units.hpp"

namespace walsizer {

// Pages that are changed alike. A set is known by its place in PaperLoad: between two redo points the pages
// of set 0 that were logged whole stay so when the load changes.
struct PageSet {
    double pages = 0;    // how many there are; 0: without end, each change is of a page not seen before
    double touches = 0;  // changes of one of them, per second
};

// What the clients do, constant for a while.
struct PaperLoad {
    static constexpr unsigned kSets = 6;

    double records = 0;                 // bytes/s of WAL that are not full-page images
    double image_size = 8 * kKiB + 32;  // bytes of WAL that one full-page image takes, compression included
    PageSet sets[kSets];
};

enum class PaperEvent : std::uint8_t {
    kNone,       // the time given is over
    kForced,     // WAL reached the trigger
    kTimed,      // checkpoint_timeout passed
    kRequested,  // Request() was called
    kSkipped,    // checkpoint_timeout passed without WAL: counted as timed by PostgreSQL, redo stays
};

struct PaperStep {
    PaperEvent event = PaperEvent::kNone;
    Micros elapsed = 0;        // of the time given; what is left is to be given again
    Bytes wal_bytes = 0;       // from the old redo point to the new one
    Micros cycle_time = -1;    // the same in time
    double touched_pages = 0;  // pages of the sets that were changed in between: what the checkpoint writes
};

class PaperCheckpointer {
  public:
    // What PostgreSQL itself writes with a checkpoint: its record and the running transactions'. It does not
    // count as WAL that needs the next one (xlog.c:CreateCheckPoint()).
    static constexpr Bytes kOwnRecords = 168;

    PaperCheckpointer() noexcept : PaperCheckpointer(ServerSettings(), 16 * kMiB, 0) {}
    // A server that just made a checkpoint at `start`.
    PaperCheckpointer(const ServerSettings& server, Lsn start, Micros now) noexcept;

    // The settings as those who write WAL hold them: they ask for the checkpoint.
    void Reload(const ServerSettings& server) noexcept { server_ = server; }
    const ServerSettings& server() const noexcept { return server_; }

    // CHECKPOINT, a base backup, DROP DATABASE. Several before it starts are one.
    void Request() noexcept { requested_ = true; }
    // The checkpointer still writes: nothing starts before.
    void BusyUntil(Micros at) noexcept { busy_until_ = at; }

    // The server crashed and is up again after `downtime`, with a checkpoint at the end of its recovery.
    void Recovered(Micros downtime) noexcept;

    // Lives through `most` of `load`, or until the first event in it.
    PaperStep Advance(const PaperLoad& load, Micros most) noexcept;

    // How long `bytes` of WAL take from now on if no checkpoint comes in between; -1: longer than `most`.
    Micros TimeFor(double bytes, const PaperLoad& load, Micros most) const noexcept;
    // Until WAL asks for a checkpoint; -1: not within `most`. 0 when it has asked.
    Micros UntilTrigger(const PaperLoad& load, Micros most) const noexcept;
    // WAL that `load` writes in `time` if no checkpoint comes in between; at most what that time can hold.
    double WalIn(Micros time, const PaperLoad& load) const noexcept;
    // Bytes/s of WAL just now, images included.
    double Rate(const PaperLoad& load) const noexcept;
    // How fast that falls while images fade, in bytes/s per second.
    double Slowdown(const PaperLoad& load) const noexcept;

    Micros now() const noexcept { return now_; }
    Lsn redo() const noexcept { return redo_; }
    Micros redo_at() const noexcept { return redo_at_; }
    Lsn position() const noexcept { return redo_ + static_cast<Lsn>(since_redo_); }
    Micros timer_due() const noexcept;
    // Since the beginning.
    double record_bytes() const noexcept { return record_bytes_; }
    double image_bytes() const noexcept { return image_bytes_; }
    // Pages changed since the redo point.
    double TouchedPages() const noexcept;

  private:
    double Images(double seconds, const PaperLoad& load) const noexcept;
    double LeftToTrigger() const noexcept;
    bool Idle() const noexcept { return since_redo_ < static_cast<double>(kOwnRecords) + 1; }
    void Write(Micros time, const PaperLoad& load) noexcept;
    void Start(PaperEvent event, PaperStep& step) noexcept;

    ServerSettings server_;
    Micros now_ = 0;
    Lsn redo_ = 0;
    Micros redo_at_ = 0;
    Micros timer_from_ = 0;
    Micros busy_until_ = 0;
    double since_redo_ = 0;
    double touched_[PaperLoad::kSets] = {};  // pages of each set that were logged whole since the redo point
    double record_bytes_ = 0;
    double image_bytes_ = 0;
    bool wanted_ = false;
    bool requested_ = false;
};

}  // namespace walsizer
