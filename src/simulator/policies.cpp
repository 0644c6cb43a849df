#include <algorithm>

#include "simulator/policy.hpp"

namespace walsizer::simulator {

namespace {

// The multiplying tuners' default.
constexpr std::int64_t kThreshold = 2;
constexpr int kQuietWindows = 5;
constexpr double kShrink = 0.75;
// As many as the extension keeps by default.
constexpr std::uint32_t kWindows = 3000;

}  // namespace

void Policy::Set(SimulatedServer& server, Bytes size) {
    changes_.push_back({server.now(), size});
    server.SetMaxWalSize(size);
}

Micros MultiplyingPolicy::Look(SimulatedServer& server) {
    ++looks_;
    const Observation seen = server.Observe();
    const std::int64_t requested = seen.counters.requested - requested_before_;
    requested_before_ = seen.counters.requested;
    if (!std::exchange(started_, true)) return seen.server.checkpoint_timeout;
    const Bytes size = seen.server.max_wal_size;
    quiet_windows_ = requested > 0 ? 0 : quiet_windows_ + 1;
    if (requested >= kThreshold) {
        const double grown = static_cast<double>(size) * static_cast<double>(requested + 1);
        const Bytes most = std::max(server.TrueCeiling(), size);
        const Bytes next = grown < static_cast<double>(most) ? static_cast<Bytes>(grown) : most;
        if (next > size) Set(server, next);
    } else if (shrinks_ && quiet_windows_ >= kQuietWindows) {
        quiet_windows_ = 0;
        const auto less = static_cast<Bytes>(static_cast<double>(size) * kShrink);
        const Bytes next = std::max(less / kMiB * kMiB, server.trace().server.max_wal_size);
        if (next < size) Set(server, next);
    }
    return seen.server.checkpoint_timeout;
}

void MultiplyingPolicy::Restarted(SimulatedServer&) {
    started_ = false;
    requested_before_ = 0;
    quiet_windows_ = 0;
}

WalsizerPolicy::WalsizerPolicy(const TunerSettings& settings, bool skip)
    : settings_(settings),
      skip_(skip),
      decisions_(kDecisionCapacity),
      windows_(kWindows),
      checkpoints_(kCheckpointCapacity),
      journal_{{decisions_.data(), kDecisionCapacity, &written_[0]},
               {windows_.data(), kWindows, &written_[1]},
               {checkpoints_.data(), kCheckpointCapacity, &written_[2]},
               totals_} {}

Micros WalsizerPolicy::Look(SimulatedServer& server) {
    ++looks_;
    const Orders orders = tuner_.Look(server.Observe(), settings_, journal_);
    if (orders.change == walsizer::Change::kSet) {
        if (tuner_.NeedsOriginal()) {
            Original original;
            original.known = true;
            original.size = server.max_wal_size();
            tuner_.RememberOriginal(original);
        }
        Set(server, orders.size);
    }
    if (!skip_ || !tuner_.Settled()) return orders.next_look;
    // Whole looks, so that those that do happen happen at the same instants.
    const Micros quiet = QuietFor(server, tuner_, journal_);
    return std::max<Micros>((quiet + orders.next_look - 1) / orders.next_look, 1) * orders.next_look;
}

void WalsizerPolicy::Restarted(SimulatedServer& server) {
    const TunerMemory memory = tuner_.memory();
    tuner_ = Tuner();
    tuner_.Remember(memory);
    tuner_.LearnRecovery(server.last_recovery());
}

}  // namespace walsizer::simulator
