#include <fmt/format.h>

#include <algorithm>

#include "cli/print_advice.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

constexpr std::size_t kLabel = 13;  // width of the first column
constexpr std::size_t kBar = 24;
constexpr const char* kAtMost = "≤";
constexpr const char* kAtLeast = "≥";

class Page {
  public:
    Page(const Advice& advice, const Style& style) : advice_(advice), style_(style) {}

    std::string Print() {
        text_ += style_.Bold(advice_.source) + "\n";
        for (const ServerAdvice& server : advice_.servers) PrintServer(server);
        PrintNotes();
        return text_;
    }

  private:
    // "Label        text, wrapped, with a hanging indent"
    void Item(std::string_view label, std::string_view text) {
        const std::string padded = fmt::format("{:<{}}", label, kLabel);
        text_ += style_.Bold(padded) + Wrapped(text, kLabel, kLabel) + "\n";
    }
    void Gap() { text_ += "\n"; }

    void PrintServer(const ServerAdvice& server) {
        if (advice_.servers.size() > 1) {
            Gap();
            text_ += style_.Bold(fmt::format("== {}", server.name)) + "\n";
        }
        PrintSpan(server);
        PrintCauses(server);
        PrintWal(server);
        PrintSettings(server);
        PrintRecommendation(server);
        PrintWhatIf(server);
        PrintFindings(server);
    }

    void PrintSpan(const ServerAdvice& server) {
        const Span& span = server.span;
        if (!span.from || !span.to) return;
        const bool same_day = Print(*span.from).substr(0, 10) == Print(*span.to).substr(0, 10);
        const bool bare = !span.from->dated || !span.to->dated || same_day;
        const std::string end = bare ? PrintTimeOfDay(*span.to) : cli::Print(*span.to);
        Item("Watched", fmt::format("{} to {}, {} of it known ({})", cli::Print(*span.from), end,
                                    TimeForPeople(span.watched), Timeouts(server)));
    }

    static std::string Print(const Instant& instant) { return cli::Print(instant); }

    static std::string Timeouts(const ServerAdvice& server) {
        const Micros timeout = std::max<Micros>(server.settings.checkpoint_timeout.value, 1);
        const auto whole = server.span.watched / timeout;
        if (whole == 0) return "less than one checkpoint_timeout";
        return fmt::format("{} x checkpoint_timeout", whole);
    }

    void PrintCauses(const ServerAdvice& server) {
        static constexpr const char* kMeaning[] = {"forced by WAL volume",
                                                   "checkpoint_timeout passed",
                                                   "asked for: command, backup",
                                                   "recovery, shutdown",
                                                   "on a standby",
                                                   "cause not told"};
        const std::int64_t total = server.checkpoints.total();
        Gap();
        Item("Checkpoints", total == 0 ? "none seen" : std::to_string(total));
        for (std::size_t i = 0; i < kCauses; ++i) {
            const std::int64_t count = server.checkpoints.of[i];
            if (count == 0) continue;
            const double share = static_cast<double>(count) / static_cast<double>(total);
            const auto cause = static_cast<Cause>(i);
            const std::string bar = Bar(share, kBar);
            text_ += fmt::format("  {:<13}{:>6} {:>4.0f} % {} {}\n", Name(cause), count, share * 100,
                                 cause == Cause::kWal ? style_.Red(bar) : style_.Green(bar), kMeaning[i]);
        }
        if (server.checkpoints.stale > 0)
            text_ += fmt::format("  {:<13}{:>6}\n", "of wal, stale", server.checkpoints.stale);
        if (server.shortest_interval >= 0) {
            const std::string shortest = TimeForPeople(server.shortest_interval);
            const std::string longest = TimeForPeople(server.longest_interval);
            Item("Forced", shortest == longest
                               ? fmt::format("{} after the checkpoint before", shortest)
                               : fmt::format("{} to {} after the checkpoint before", shortest, longest));
        }
    }

    void PrintWal(const ServerAdvice& server) {
        const Recommendation& recommendation = server.recommendation;
        std::string text;
        if (server.wal_bytes > 0)
            text = fmt::format("{} in {}", SizeForPeople(static_cast<double>(server.wal_bytes)),
                               TimeForPeople(server.span.watched));
        if (recommendation.need_known) {
            static constexpr const char* kHow[] = {"projected", "measured",
                                                   "at most, measured under frequent checkpoints"};
            if (!text.empty()) text += "; ";
            text += fmt::format("{} in one checkpoint_timeout ({})", SizeForPeople(recommendation.need.bytes),
                                kHow[static_cast<std::size_t>(recommendation.need.basis)]);
        }
        if (!text.empty()) Item("WAL", text);
        if (server.replay_rate > 0)
            Item("Recovery", fmt::format("replayed {}/s", SizeForPeople(server.replay_rate)));
    }

    template <typename Value>
    void Setting(const char* name, const std::string& value, const Sourced<Value>& setting) {
        std::string line = fmt::format("  {:<30}{:<9} {}", name, value, Whence(setting.origin));
        if (!setting.note.empty()) line += ": ";
        text_ += line;
        if (!setting.note.empty()) text_ += Wrapped(setting.note, 42, line.size());
        text_ += "\n";
    }

    static const char* Whence(Origin origin) {
        static constexpr const char* kWhence[] = {"assumed (default)", "from the log", "as you say",
                                                  "asked the server"};
        return kWhence[static_cast<std::size_t>(origin)];
    }

    void PrintSettings(const ServerAdvice& server) {
        const SettingsInForce& settings = server.settings;
        Gap();
        text_ += style_.Bold("Settings") + "\n";
        Setting("max_wal_size", SizeSetting(settings.max_wal_size.value), settings.max_wal_size);
        Setting("checkpoint_timeout", TimeSetting(settings.checkpoint_timeout.value),
                settings.checkpoint_timeout);
        Setting("checkpoint_completion_target", fmt::format("{}", settings.completion_target.value),
                settings.completion_target);
        Setting("wal_segment_size", SizeSetting(settings.segment_size.value), settings.segment_size);
    }

    void PrintRecommendation(const ServerAdvice& server) {
        const Recommendation& recommendation = server.recommendation;
        Gap();
        if (recommendation.action == Action::kRaise)
            Item("Recommended",
                 style_.Yellow(fmt::format("max_wal_size = {} (from {})", SizeSetting(recommendation.size),
                                           SizeSetting(server.settings.max_wal_size.value))));
        else
            Item("Recommended",
                 style_.Green(recommendation.action == Action::kKeep ? "no change" : "not applicable"));
        if (!recommendation.reason.empty()) Item("", recommendation.reason);
        if (!recommendation.limits.empty()) Item("", recommendation.limits);
        if (recommendation.lines.empty()) return;
        Gap();
        for (const ConfigLine& line : recommendation.lines) PrintLine(line);
    }

    // A line to copy is never wrapped.
    void PrintLine(const ConfigLine& line) {
        text_ += "  " + line.place + "\n";
        std::size_t from = 0;
        while (from <= line.line.size()) {
            const std::size_t end = std::min(line.line.find('\n', from), line.line.size());
            text_ += "    " + style_.Cyan(line.line.substr(from, end - from)) + "\n";
            from = end + 1;
        }
    }

    // The size, whether it is the present or the recommended one, and what it would be too large for.
    static std::string Remark(const WhatIfSize& row, const ServerAdvice& server) {
        std::string remark;
        const bool present = row.max_wal_size == server.settings.max_wal_size.value;
        const bool recommended = row.max_wal_size == server.recommendation.size;
        if (present) remark = recommended ? "present, kept" : "present";
        if (recommended && !present) remark = "recommended";
        std::string beyond = row.fits_disk.value_or(true) ? "" : "disk";
        if (!row.fits_recovery_time) beyond += beyond.empty() ? "recovery" : ", recovery";
        return beyond.empty() ? remark : fmt::format("{:<13} {}", remark, beyond);
    }

    static std::string Rate(double per_hour) {
        return per_hour < 99.95 ? fmt::format("{:.1f}", per_hour) : fmt::format("{:.0f}", per_hour);
    }

    void PrintWhatIf(const ServerAdvice& server) {
        const WhatIfTable& table = server.what_if;
        if (table.sizes.empty()) {
            if (table.note.empty()) return;
            Gap();
            Item("What if", table.note);
            return;
        }
        Gap();
        text_ += style_.Bold("What if, checkpoints and WAL per hour") + "\n";
        const bool beyond = std::any_of(table.sizes.begin(), table.sizes.end(), [](const WhatIfSize& row) {
            return !row.fits_recovery_time || !row.fits_disk.value_or(true);
        });
        text_ += fmt::format("  {:>12}{:>8}{:>8}{:>11}{:>9}{}\n", "max_wal_size", "forced", "timed", "WAL",
                             "recovery", beyond ? "                too large for" : "");
        for (const WhatIfSize& row : table.sizes) {
            const bool smaller = row.max_wal_size < server.settings.max_wal_size.value;
            const std::string bound = !row.is_bound ? "" : smaller ? kAtLeast : kAtMost;
            std::string line = fmt::format("  {:>12}{:>8}{:>8}{:>11}{:>9}  {}", SizeSetting(row.max_wal_size),
                                           bound + Rate(row.forced_per_hour), Rate(row.timed_per_hour),
                                           bound + SizeForPeople(static_cast<double>(row.wal_per_hour)),
                                           TimeForPeople(row.recovery_estimate), Remark(row, server));
            line.erase(line.find_last_not_of(' ') + 1);
            const bool recommended = row.max_wal_size == server.recommendation.size;
            text_ += (recommended ? style_.Bold(line) : line) + "\n";
        }
        PrintBounds(table);
        if (!table.note.empty()) text_ += Wrapped(table.note, 2) + "\n";
    }

    // What is meant by the signs in the table, once for each reason.
    void PrintBounds(const WhatIfTable& table) {
        constexpr std::string_view kSince = ", since ";
        std::vector<std::string> said;
        for (const WhatIfSize& row : table.sizes) {
            const std::size_t at = row.note.find(kSince);
            if (!row.is_bound || at == std::string::npos) continue;
            const std::string why = row.note.substr(at + kSince.size());
            if (std::find(said.begin(), said.end(), why) != said.end()) continue;
            said.push_back(why);
            text_ +=
                Wrapped(fmt::format("{} at most, {} at least this much, since {}.", kAtMost, kAtLeast, why),
                        2) +
                "\n";
        }
    }

    void PrintFindings(const ServerAdvice& server) {
        if (server.findings.empty()) return;
        Gap();
        text_ += style_.Bold("Findings") + "\n";
        for (const Finding& finding : server.findings) {
            const bool warning = finding.severity == Severity::kWarning;
            const std::string label = fmt::format("  {:<8} ", Name(finding.severity));
            text_ += (warning ? style_.Yellow(label) : style_.Faint(label)) +
                     Wrapped(finding.message, label.size(), label.size()) + "\n";
            if (!finding.hint.empty()) text_ += Wrapped(finding.hint, label.size()) + "\n";
        }
    }

    void PrintNotes() {
        std::vector<std::string> notes = advice_.notes;
        if (advice_.duplicates > 0)
            notes.push_back(
                fmt::format("{} lines stood in more than one file and count once.", advice_.duplicates));
        if (advice_.unparsed > 0)
            notes.push_back(fmt::format("{} of {} lines concern checkpoints but could not be read.",
                                        advice_.unparsed, advice_.lines));
        if (notes.empty()) return;
        Gap();
        for (const std::string& note : notes) text_ += Wrapped(note, 0) + "\n";
    }

    const Advice& advice_;
    const Style& style_;
    std::string text_;
};

}  // namespace

std::string AdviceAsText(const Advice& advice, const Style& style) {
    return Page(advice, style).Print();
}

}  // namespace walsizer::cli
