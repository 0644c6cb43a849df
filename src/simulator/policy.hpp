// Who decides about a simulated server's max_wal_size.
#pragma once

#include <memory>
#include <vector>

#include "simulator/server.hpp"
#include "walsizer/tuner.hpp"

namespace walsizer::simulator {

inline constexpr Micros kNoMoreLooks = 400 * 24 * kHour;

class Policy {
  public:
    virtual ~Policy() = default;
    // Looks at the server and may change it; says in how long to look again.
    virtual Micros Look(SimulatedServer& server) = 0;
    // The server crashed and is up again: what lived inside it starts anew.
    virtual void Restarted(SimulatedServer& server) = 0;
    std::int64_t looks() const { return looks_; }
    struct Change {
        Micros at;
        Bytes size;
    };
    const std::vector<Change>& changes() const { return changes_; }

  protected:
    void Set(SimulatedServer& server, Bytes size);
    std::int64_t looks_ = 0;

  private:
    std::vector<Change> changes_;
};

// A value chosen once.
class FixedPolicy : public Policy {
  public:
    Micros Look(SimulatedServer&) override { return kNoMoreLooks; }
    void Restarted(SimulatedServer&) override {}
};

// The rule of the tuners that came before: after each checkpoint_timeout, when at least `threshold`
// checkpoints were requested in it, the size times that number plus one. All requests count, whoever made
// them. The second form also takes a quarter off after five windows without a request, not below where it
// began.
class MultiplyingPolicy : public Policy {
  public:
    explicit MultiplyingPolicy(bool shrinks) : shrinks_(shrinks) {}
    Micros Look(SimulatedServer& server) override;
    void Restarted(SimulatedServer& server) override;

  private:
    bool shrinks_;
    bool started_ = false;
    std::int64_t requested_before_ = 0;
    int quiet_windows_ = 0;
};

// walsizer itself: the engine's Tuner, fed as the extension's worker feeds it.
class WalsizerPolicy : public Policy {
  public:
    // With `skip` it leaves out looks at which nothing can happen (see QuietFor()).
    WalsizerPolicy(const TunerSettings& settings, bool skip);
    Micros Look(SimulatedServer& server) override;
    void Restarted(SimulatedServer& server) override;

    const Tuner& tuner() const { return tuner_; }
    const Journal& journal() const { return journal_; }

  private:
    TunerSettings settings_;
    bool skip_;
    Tuner tuner_;
    std::vector<DecisionRecord> decisions_;
    std::vector<WindowRecord> windows_;
    std::vector<CheckpointRecord> checkpoints_;
    std::uint64_t written_[3] = {};
    Totals totals_;
    Journal journal_;
};

// How long from now no look can see anything that matters to the tuner: no change of load or setting, no
// checkpoint, no end of a window, no trigger in sight, nor a bend of the WAL curve that its meters must know.
// 0: look as often as the tuner asks.
Micros QuietFor(const SimulatedServer& server, const Tuner& tuner, const Journal& journal);

}  // namespace walsizer::simulator
