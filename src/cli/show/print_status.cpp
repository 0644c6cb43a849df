#include "cli/show/print_status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"
#include "cli/server/local_time.hpp"
#include "walsizer/text.hpp"

namespace walsizer::cli {

namespace {

constexpr std::size_t kLabel = 14;  // width of the first column
constexpr std::size_t kBar = 30;

std::string Size(Bytes size) {
    return size < 0 ? "unknown" : SizeForPeople(static_cast<double>(size));
}

std::string Share(double ratio) {
    return ratio < 0 ? "unknown" : fmt::format("{:.0f} %", ratio * 100);
}

class Page {
  public:
    Page(const ExtensionStatus& status, const Style& style) : status_(status), style_(style) {}

    std::string Print(const std::string& where, const std::vector<ExtensionDecision>& decisions) {
        text_ = style_.Bold(fmt::format("{}, walsizer {}", where, status_.version)) + "\n";
        PrintState();
        if (!status_.started()) return text_;
        PrintSizes();
        PrintRace();
        PrintCosts();
        PrintDecisions(decisions);
        return text_;
    }

  private:
    void Item(std::string_view label, std::string_view text) {
        text_ += style_.Bold(fmt::format("{:<{}}", label, kLabel)) + Wrapped(text, kLabel, kLabel) + "\n";
    }

    void PrintState() {
        std::string state = status_.state;
        if (status_.state_since) state += ", since " + cli::Print(LocalInstant(*status_.state_since));
        text_ += style_.Bold(fmt::format("{:<{}}", "State", kLabel)) +
                 (status_.NeedsAttention() ? style_.Yellow(state) : style_.Green(state)) + "\n";
        if (!status_.reason.empty()) Item("", status_.reason);
        if (!status_.last_error.empty()) Item("Last error", status_.last_error);
        text_ += "\n";
    }

    void PrintSizes() {
        std::string present = fmt::format("{}, from {}", Size(status_.max_wal_size), status_.source);
        if (status_.original_size > 0 && status_.original_size != status_.max_wal_size)
            present += fmt::format("; {} before walsizer", Size(status_.original_size));
        Item("max_wal_size", present);
        std::string need = Size(status_.need);
        if (status_.recommended > status_.max_wal_size)
            need += fmt::format("; recommended {}", Size(status_.recommended));
        Item("Need", need);
        Item("Ceiling", fmt::format("{}, by {}", Size(status_.ceiling), LimitInWords()));
        text_ += "\n";
    }

    std::string LimitInWords() const {
        if (status_.limited_by == "max") return "walsizer.max";
        if (status_.limited_by == "disk") return "the space on pg_wal's volume";
        if (status_.limited_by == "recovery_time") return "the time a crash recovery may take";
        return status_.limited_by;
    }

    void PrintRace() {
        const double share = status_.trigger_size > 0 ? static_cast<double>(status_.wal_since_redo) /
                                                            static_cast<double>(status_.trigger_size)
                                                      : 0;
        text_ += style_.Bold(fmt::format("{:<{}}", "WAL", kLabel)) + Bar(share, kBar) +
                 fmt::format(" {} of {}\n", Size(status_.wal_since_redo), Size(status_.trigger_size));
        Item("", fmt::format("since the redo point; the trigger is reached {}", ForcedIn(status_)));
        if (status_.window_start && status_.window_end)
            Item("This window",
                 fmt::format("{} to {}: {} timed, {} requested, {} of them forced by WAL{}",
                             PrintTimeOfDay(LocalInstant(*status_.window_start)),
                             PrintTimeOfDay(LocalInstant(*status_.window_end)), status_.num_timed,
                             status_.num_requested, status_.num_wal_forced,
                             status_.num_stale > 0 ? fmt::format(", {} stale", status_.num_stale) : ""));
        Item("Last hour", fmt::format("{} of checkpoints requested, {} forced by WAL (12 windows)",
                                      Share(status_.requested_ratio), Share(status_.forced_ratio)));
        text_ += "\n";
    }

    void PrintCosts() {
        if (status_.recovery_estimate >= 0)
            Item("Recovery",
                 fmt::format("{} at worst, at {}/s ({})", TimeForPeople(status_.recovery_estimate),
                             SizeForPeople(status_.replay_rate), status_.replay_rate_source));
        if (status_.disk_size < 0) return;
        std::string disk =
            fmt::format("{} free of {}, {} reserved; pg_wal takes {}", Size(status_.disk_free),
                        Size(status_.disk_size), Size(status_.disk_reserve), Size(status_.wal_dir_size));
        if (status_.wal_held > 0 && !status_.wal_held_by.empty())
            disk += fmt::format(", {} held by {}", Size(status_.wal_held), status_.wal_held_by);
        Item("Disk", disk);
    }

    void PrintDecisions(const std::vector<ExtensionDecision>& decisions) {
        text_ += "\n" + style_.Bold(fmt::format("Decisions ({} so far)", status_.num_decisions)) + "\n";
        if (decisions.empty()) text_ += "  none yet\n";
        for (const ExtensionDecision& decision : decisions) {
            text_ += fmt::format("  {}  {:<8} {}  {}\n", cli::Print(LocalInstant(decision.decided_at)),
                                 decision.action, Change(decision, "to"), style_.Faint(decision.outcome));
            text_ += Wrapped(decision.reason, 4) + "\n";
        }
    }

    const ExtensionStatus& status_;
    const Style& style_;
    std::string text_;
};

}  // namespace

std::string ForcedIn(const ExtensionStatus& status) {
    const Bytes left = std::max<Bytes>(status.trigger_size - status.wal_since_redo, 0);
    if (status.wal_rate <= 1) return "never: no WAL is written now";
    const double seconds = static_cast<double>(left) / status.wal_rate;
    const std::string pace = SizeForPeople(status.wal_rate) + "/s";
    if (seconds > static_cast<double>(status.checkpoint_timeout) / kSecond)
        return fmt::format("after the timer, at {}", pace);
    return fmt::format("in {} at {}", ClockText(static_cast<Micros>(seconds * kSecond)).c_str(), pace);
}

std::string Change(const ExtensionDecision& decision, const std::string& arrow) {
    if (decision.new_size < 0 || decision.new_size == decision.old_size) return Size(decision.old_size);
    return fmt::format("{} {} {}", Size(decision.old_size), arrow, Size(decision.new_size));
}

std::string StatusAsText(const std::string& where, const ExtensionStatus& status,
                         const std::vector<ExtensionDecision>& decisions, const Style& style) {
    return Page(status, style).Print(where, decisions);
}

}  // namespace walsizer::cli
