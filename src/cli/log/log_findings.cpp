#include "cli/log/log_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"
#include "walsizer/policy.hpp"

namespace walsizer::cli {

namespace {

// A sync phase this long stalls whoever waits for the storage.
constexpr Micros kLongSync = 5 * kSecond;
// max_wal_size this many times the need is worth a word. It costs nothing but recovery time.
constexpr Bytes kFarAbove = 10;
// min_wal_size, PostgreSQL's default: 5 segments of 16 MB.
constexpr Bytes kDefaultMinWalSize = 80 * kMiB;

std::string Size(Bytes size) {
    return SizeForPeople(static_cast<double>(size));
}

std::string Range(const std::string& low, const std::string& high) {
    return low == high ? low : low + " to " + high;
}

class Findings {
  public:
    Findings(const LoggedServer& server, const ServerAdvice& advice, const CeilingOptions& ceilings)
        : server_(server), tally_(server.tally), advice_(advice), ceilings_(ceilings) {
        Forced();
        Stale();
        SlowReplay();
        SlowSync();
        Standby();
        Recovery();
        SegmentSwitches();
        FarAbove();
        LogCheckpoints();
    }
    std::vector<Finding> Take() { return std::move(findings_); }

  private:
    void Say(Severity severity, const char* code, std::string message, std::string hint = "") {
        findings_.push_back({severity, code, std::move(message), std::move(hint)});
    }

    void Forced() {
        if (tally_.forced == 0) return;
        const std::int64_t all =
            tally_.counts.total() - tally_.counts[Cause::kRestartpoint] - tally_.counts.stale;
        std::string message = fmt::format("{} of {} checkpoints {} forced by WAL volume", tally_.forced, all,
                                          tally_.forced == 1 ? "was" : "were");
        if (tally_.shortest_forced >= 0)
            message += fmt::format(", {} after the one before", Range(TimeForPeople(tally_.shortest_forced),
                                                                      TimeForPeople(tally_.longest_forced)));
        message += ".";
        const bool raise = advice_.recommendation.action == Action::kRaise;
        Say(raise ? Severity::kWarning : Severity::kInfo, "forced", message,
            raise ? "If this was a one-off load (an import, a restore), raise max_wal_size for its time only "
                    "and put the old value back afterwards."
                  : "");
    }

    void Stale() {
        if (tally_.counts.stale == 0) return;
        std::string distances;
        if (tally_.smallest_stale >= 0)
            distances =
                fmt::format(" after {}", Range(Size(tally_.smallest_stale), Size(tally_.largest_stale)));
        Say(Severity::kInfo, "stale",
            fmt::format(
                "max_wal_size was raised to {} at {}, and {} checkpoints were forced{} since, short of "
                "its trigger of {}: the statement keeps its old trigger.",
                SizeSetting(advice_.settings.max_wal_size.value), Print(*server_.raised_at),
                tally_.counts.stale, distances,
                Size(TriggerSize(advice_.settings.max_wal_size.value, advice_.settings.ForEngine()))),
            "A statement that was running at the reload sees the new value only when it ends. This is no "
            "reason to raise again.");
    }

    void SlowReplay() {
        if (advice_.replay_rate <= 0 || ceilings_.max_recovery_time <= 0) return;
        const double seconds = static_cast<double>(advice_.settings.max_wal_size.value) / advice_.replay_rate;
        if (seconds * kSecond <= static_cast<double>(ceilings_.max_recovery_time)) return;
        Say(Severity::kWarning, "slow_replay",
            fmt::format(
                "Crash recovery replayed {:.2f} MB/s: with max_wal_size = {} it can take {}, more than "
                "the {} that are acceptable. The recovery time forbids growth.",
                advice_.replay_rate / 1e6, SizeSetting(advice_.settings.max_wal_size.value),
                TimeForPeople(static_cast<Micros>(seconds * kSecond)),
                TimeSetting(ceilings_.max_recovery_time)),
            "Find out why replay is slow (storage, recovery_prefetch), or accept more with "
            "--max-recovery-time.");
    }

    void SlowSync() {
        if (tally_.longest_sync_phase < kLongSync) return;
        std::string message =
            fmt::format("The sync phase of a checkpoint took {}", TimeForPeople(tally_.longest_sync_phase));
        if (tally_.longest_sync_file >= 0)
            message += fmt::format(", one file alone {}", TimeForPeople(tally_.longest_sync_file));
        Say(Severity::kWarning, "slow_sync", message + ": the storage is the bottleneck.",
            "Rarer checkpoints write less; checkpoint_flush_after and the kernel's dirty limits spread it.");
    }

    void Standby() {
        if (!advice_.standby) return;
        Say(Severity::kInfo, "standby",
            fmt::format("{} restartpoints: a standby follows the checkpoints of its primary.",
                        tally_.counts[Cause::kRestartpoint]),
            "Size max_wal_size by the primary's log, and give the standby the same.");
    }

    void Recovery() {
        if (tally_.counts[Cause::kRecovery] == 0) return;
        Say(Severity::kInfo, "recovery",
            fmt::format("{} checkpoints ended a recovery or a shutdown. What they covered was replayed or "
                        "waited for; it is no reason to grow.",
                        tally_.counts[Cause::kRecovery]));
    }

    void SegmentSwitches() {
        if (tally_.segment_switches == 0) return;
        Say(Severity::kInfo, "segment_switch",
            fmt::format("{} checkpoints covered whole segments of {} with hardly a buffer written: segments "
                        "that were switched for their age (archive_timeout) on an idle server, not load.",
                        tally_.segment_switches, Size(advice_.settings.segment_size.value)));
    }

    void FarAbove() {
        const Recommendation& recommendation = advice_.recommendation;
        const Bytes present = advice_.settings.max_wal_size.value;
        if (!recommendation.need_known || tally_.forced > 0 || recommendation.need.bytes <= 0 ||
            recommendation.need.basis == NeedBasis::kProjected)
            return;
        if (static_cast<double>(present) < static_cast<double>(kFarAbove) * recommendation.need.bytes) return;
        std::string message =
            fmt::format("max_wal_size = {} is {:.0f} times the WAL of one checkpoint_timeout ({}).",
                        SizeSetting(present), static_cast<double>(present) / recommendation.need.bytes,
                        SizeForPeople(recommendation.need.bytes));
        if (recommendation.need.bytes < static_cast<double>(kDefaultMinWalSize))
            message += " The default min_wal_size of 80MB already suffices.";
        else
            message += fmt::format(" {} would do.", SizeSetting(recommendation.need.size));
        Say(Severity::kInfo, "far_above", message,
            "That costs nothing but a longer crash recovery in the worst case.");
    }

    void LogCheckpoints() {
        if (tally_.told || tally_.forced == 0) return;
        Say(Severity::kInfo, "log_checkpoints",
            fmt::format(
                "{} of frequent checkpoints, and no line about a checkpoint itself: log_checkpoints is off, "
                "or such lines were left out here.",
                tally_.forced == 1 ? "A warning" : fmt::format("{} warnings", tally_.forced)),
            "With log_checkpoints = on the log tells the cause, the WAL and the phases of each checkpoint.");
    }

    const LoggedServer& server_;
    const Tally& tally_;
    const ServerAdvice& advice_;
    const CeilingOptions& ceilings_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> LogFindings(const LoggedServer& server, const ServerAdvice& advice,
                                 const CeilingOptions& ceilings) {
    return Findings(server, advice, ceilings).Take();
}

}  // namespace walsizer::cli
