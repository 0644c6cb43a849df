// Accounts: turns looks into cycles, windows, paces and demand. Decides nothing.
#pragma once

#include "walsizer/cycles.hpp"
#include "walsizer/demand.hpp"
#include "walsizer/journal.hpp"
#include "walsizer/observation.hpp"
#include "walsizer/pace.hpp"
#include "walsizer/wal_record.hpp"

namespace walsizer {

struct TrackerEvents {
    CycleEvents cycle;
    bool window_closed = false;
    bool window_saw_wal = false;
};

// Full-page images of the open cycle or the last forced one, where the statistics cover its WAL.
struct FpiOfCycle {
    bool known = false;
    double share = 0;
};

class Tracker {
  public:
    TrackerEvents Look(const Observation& seen, Journal& journal) noexcept;

    void Remember(const CycleMemory& memory) noexcept { cycles_.Remember(memory); }
    const CycleMemory& memory() const noexcept { return cycles_.memory(); }

    void Remember(const ImageProfile& images) noexcept { recorder_.Remember(images); }
    const ImageProfile& images() const noexcept { return recorder_.profile(); }

    const Observation& latest() const noexcept { return latest_; }
    const Cycle& open_cycle() const noexcept { return cycles_.open(); }
    const FinishedCycle& last_forced_cycle() const noexcept { return cycles_.last_forced(); }
    FpiOfCycle OpenCycleFpi() const noexcept;
    FpiOfCycle LastForcedCycleFpi() const noexcept;
    const WindowRecord& open_window() const noexcept { return window_; }
    Timestamp open_window_due() const noexcept;
    // The open window as it would be if it ended at the latest look.
    WindowRecord WindowSoFar() const noexcept { return Fill(latest_.now); }
    Pace pace() const noexcept { return pace_.Now(); }
    Stretch stretch() const noexcept { return demand_.Latest(latest_.server.checkpoint_timeout); }
    bool started() const noexcept { return started_; }

    // Ends the open window early (the observer stops), so that it is not lost.
    void CloseWindow(Journal& journal) noexcept;

  private:
    void OpenWindow(Micros start) noexcept;
    WindowRecord Fill(Micros end) const noexcept;
    void RememberStatistics(const Observation& seen) noexcept;

    CycleTracker cycles_;
    PaceMeter pace_;
    DemandMeter demand_;
    WalRecorder recorder_;
    Observation latest_;
    // As last read: not every look reads them.
    WalStatistics wal_;
    BufferCounters buffers_;
    WindowRecord window_;
    Observation window_start_;  // cumulative figures when the open window began
    Micros window_from_ = 0;
    Micros window_length_ = 0;
    bool started_ = false;
};

}  // namespace walsizer
