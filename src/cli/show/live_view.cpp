#include "cli/show/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"
#include "cli/server/local_time.hpp"
#include "cli/show/print_status.hpp"
#include "walsizer/text.hpp"

namespace walsizer::cli {

namespace {

constexpr std::size_t kLabel = 14;
// On a narrower terminal the ends of the lines are cut off.
constexpr std::size_t kLeastColumns = 60;

std::string Size(Bytes size) {
    return size < 0 ? "?" : SizeForPeople(static_cast<double>(size));
}

std::string InColour(const std::string& cause, const std::string& text, const Style& style) {
    if (cause == "wal") return style.Red(text);
    if (cause == "time") return style.Green(text);
    return style.Yellow(text);
}

class Screen {
  public:
    Screen(const LiveData& data, ScreenSize size, const Glyphs& glyphs, const Style& style)
        : data_(data), status_(data.status), size_(size), glyphs_(glyphs), style_(style) {
        size_.columns = std::max(size_.columns, kLeastColumns);
    }

    std::vector<std::string> Draw() {
        Heading();
        if (status_.started()) {
            Race();
            Rate();
            Add("");
            Sizes();
            Add("");
            Causes();
            Checkpoints();
            Decisions();
        } else {
            Add(style_.Yellow(glyphs_.Fit(status_.reason, size_.columns)));
        }
        Footer();
        return std::move(lines_);
    }

  private:
    void Add(std::string line) { lines_.push_back(std::move(line)); }
    std::size_t Room() const { return size_.columns - kLabel; }
    std::size_t LinesLeft() const {
        const std::size_t taken = lines_.size() + 1;  // and the footer
        return taken < size_.lines ? size_.lines - taken : 0;
    }
    void Item(const char* label, const std::string& text) {
        Add(style_.Bold(fmt::format("{:<{}}", label, kLabel)) + glyphs_.Fit(text, Room()));
    }

    void Heading() {
        const std::string clock = PrintTimeOfDay(LocalInstant(data_.now));
        const std::string name =
            glyphs_.Fit("walsizer  " + data_.where, size_.columns - DisplayWidth(clock) - 2);
        const std::size_t gap = size_.columns - DisplayWidth(name) - DisplayWidth(clock);
        Add(style_.Bold(name) + std::string(gap, ' ') + clock);
        const std::string since =
            status_.state_since ? " since " + PrintTimeOfDay(LocalInstant(*status_.state_since)) : "";
        const std::string state = status_.state + since;
        const std::string rest = glyphs_.Fit(
            "  " + status_.reason, size_.columns - std::min(DisplayWidth(state), size_.columns - 4));
        Add((status_.NeedsAttention() ? style_.Yellow(state) : style_.Green(state)) + style_.Faint(rest));
        Add(style_.Faint(glyphs_.Rule(size_.columns)));
    }

    void Race() {
        const double share = status_.trigger_size > 0 ? static_cast<double>(status_.wal_since_redo) /
                                                            static_cast<double>(status_.trigger_size)
                                                      : 0;
        const std::string figures = fmt::format(" {:3.0f} %  {} of {}", share * 100,
                                                Size(status_.wal_since_redo), Size(status_.trigger_size));
        const std::size_t width = Room() > figures.size() + 4 ? Room() - figures.size() : 4;
        const std::string gauge = glyphs_.Gauge(share, width);
        Add(style_.Bold(fmt::format("{:<{}}", "To trigger", kLabel)) +
            (share > 0.8 ? style_.Red(gauge) : style_.Cyan(gauge)) + figures);
        Item("", "trigger reached " + ForcedIn(status_));
    }

    void Rate() {
        const double now = std::max(status_.wal_rate, 0.0);
        const double peak =
            data_.rates.empty() ? now : *std::max_element(data_.rates.begin(), data_.rates.end());
        const std::string figures =
            fmt::format(" {}/s, {}/s at most", SizeForPeople(now), SizeForPeople(peak));
        const std::size_t width = Room() > figures.size() + 4 ? Room() - figures.size() : 4;
        const std::string line = glyphs_.Sparkline(data_.rates, width);
        Add(style_.Bold(fmt::format("{:<{}}", "WAL rate", kLabel)) + style_.Cyan(line) +
            std::string(width - std::min(width, data_.rates.size()), ' ') + figures);
    }

    void Sizes() {
        Item("max_wal_size", fmt::format("{}   need {}   ceiling {} ({})", Size(status_.max_wal_size),
                                         Size(status_.need), Size(status_.ceiling), status_.limited_by));
        std::string costs;
        if (status_.recovery_estimate >= 0)
            costs = fmt::format("{} at worst", TimeForPeople(status_.recovery_estimate));
        if (status_.disk_free >= 0)
            costs += fmt::format("   disk {} free   pg_wal {}", Size(status_.disk_free),
                                 Size(status_.wal_dir_size));
        Item("Recovery", costs);
        Item("This window", fmt::format("{} timed, {} requested, {} of them forced by WAL", status_.num_timed,
                                        status_.num_requested, status_.num_wal_forced));
    }

    // One letter a checkpoint, the newest on the right: colour is not the only sign.
    void Causes() {
        std::vector<std::string> strip;
        std::int64_t forced = 0;
        std::int64_t all = 0;
        for (const ExtensionCheckpoint& checkpoint : data_.checkpoints) {
            const std::string letter(
                1, static_cast<char>(checkpoint.cause.empty() ? '?' : checkpoint.cause[0] - 32));
            for (std::int64_t i = 0; i < std::min<std::int64_t>(checkpoint.count, 200); ++i)
                strip.push_back(InColour(checkpoint.cause, letter, style_));
            all += checkpoint.count;
            if (checkpoint.cause == "wal") forced += checkpoint.count;
        }
        const std::string figures = fmt::format("  {} of {} forced", forced, all);
        const std::size_t width = Room() > figures.size() ? Room() - figures.size() : 0;
        std::string line;
        for (std::size_t i = std::min(width, strip.size()); i-- > 0;) line += strip[i];
        Add(style_.Bold(fmt::format("{:<{}}", "Causes", kLabel)) + line + figures);
        Add(style_.Faint(glyphs_.Fit(
            std::string(kLabel, ' ') + "W WAL forced it, T timer, R request, S stale; newest right",
            size_.columns)));
    }

    void Checkpoints() {
        if (LinesLeft() < 4) return;
        Add("");
        Add(style_.Bold(glyphs_.Fit(
            fmt::format("{:<10}{:<9}{:>10}{:>12}{:>11}", "Checkpoint", " cause", "WAL", "after", "trigger"),
            size_.columns)));
        const std::size_t most = std::min<std::size_t>(LinesLeft() > 4 ? LinesLeft() - 4 : 1, 8);
        for (std::size_t i = 0; i < std::min(most, data_.checkpoints.size()); ++i) {
            const ExtensionCheckpoint& row = data_.checkpoints[i];
            const std::string count = row.count > 1 ? fmt::format(" x{}", row.count) : "";
            Add(fmt::format("{:<10} ", PrintTimeOfDay(LocalInstant(row.started_at))) +
                InColour(row.cause, fmt::format("{:<8}", row.cause + count), style_) +
                fmt::format("{:>10}{:>12}{:>11}", Size(row.wal_bytes),
                            row.cycle_time < 0 ? "" : TimeForPeople(row.cycle_time), Size(row.trigger_size)));
        }
    }

    void Decisions() {
        if (LinesLeft() < 2) return;
        Add("");
        if (data_.decisions.empty()) {
            Item("Decisions", "none yet");
            return;
        }
        for (const ExtensionDecision& decision : data_.decisions) {
            if (LinesLeft() == 0) return;
            const std::string head =
                fmt::format("{}  {} {}  ", PrintTimeOfDay(LocalInstant(decision.decided_at)), decision.action,
                            Change(decision, glyphs_.Arrow()));
            const std::size_t room = size_.columns - std::min(DisplayWidth(head), size_.columns - 1);
            Add(style_.Bold(head) + style_.Faint(glyphs_.Fit(decision.reason, room)));
        }
    }

    void Footer() {
        while (lines_.size() + 1 < size_.lines) Add("");
        lines_.resize(std::max<std::size_t>(size_.lines, 1) - 1);
        if (!data_.trouble.empty())
            Add(style_.Red(glyphs_.Fit("no connection, trying again: " + data_.trouble, size_.columns)));
        else
            Add(style_.Faint(glyphs_.Fit("q or Ctrl-C ends", size_.columns)));
    }

    const LiveData& data_;
    const ExtensionStatus& status_;
    ScreenSize size_;
    const Glyphs& glyphs_;
    const Style& style_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> DrawLive(const LiveData& data, ScreenSize size, const Glyphs& glyphs,
                                  const Style& style) {
    return Screen(data, size, glyphs, style).Draw();
}

std::string LiveHeading() {
    return fmt::format("{:<9}{:<12}{:>12}{:>11}{:>11}{:>13}{:>6}{:>7}{:>7}", "time", "state", "max_wal_size",
                       "since_redo", "trigger", "rate", "timed", "req", "forced");
}

std::string LiveLine(const LiveData& data) {
    const ExtensionStatus& status = data.status;
    const std::string time = PrintTimeOfDay(LocalInstant(data.now));
    if (!data.trouble.empty()) return fmt::format("{:<9}no connection: {}", time, data.trouble);
    if (!status.started()) return fmt::format("{:<9}{:<12}{}", time, status.state, status.reason);
    return fmt::format("{:<9}{:<12}{:>12}{:>11}{:>11}{:>13}{:>6}{:>7}{:>7}", time, status.state,
                       SizeSetting(status.max_wal_size), Size(status.wal_since_redo),
                       Size(status.trigger_size), SizeForPeople(std::max(status.wal_rate, 0.0)) + "/s",
                       status.num_timed, status.num_requested, status.num_wal_forced);
}

}  // namespace walsizer::cli
