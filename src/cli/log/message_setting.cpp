// "parameter changed to": a reload that changed a setting, in any language.
#include <cstdlib>
#include <string>

#include "cli/log/message.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

// The text inside the quotes that begin at or after `at`; moves `at` behind them.
std::string_view Quoted(std::string_view text, std::size_t& at) {
    struct Quotes {
        std::string_view open, close;
    };
    static constexpr Quotes kQuotes[] = {{"\"\"", "\"\""}, {"\\\"", "\\\""}, {"\"", "\""},
                                         {"»", "«"},       {"«", "»"},       {"“", "”"}};
    for (; at < text.size(); ++at) {
        for (const Quotes& quotes : kQuotes) {
            if (text.substr(at, quotes.open.size()) != quotes.open) continue;
            const std::size_t from = at + quotes.open.size();
            const std::size_t end = text.find(quotes.close, from);
            if (end == std::string_view::npos) return {};
            at = end + quotes.close.size();
            std::string_view inside = text.substr(from, end - from);
            while (!inside.empty() &&
                   (inside.front() == ' ' || inside.front() == '\xC2' || inside.front() == '\xA0'))
                inside.remove_prefix(1);
            while (!inside.empty() &&
                   (inside.back() == ' ' || inside.back() == '\xC2' || inside.back() == '\xA0'))
                inside.remove_suffix(1);
            return inside;
        }
    }
    return {};
}

}  // namespace

Reading ReadSetting(std::string_view message, Event& event) {
    std::size_t at = 0;
    const std::string_view name = Quoted(message, at);
    if (at > 120) return Reading::kNotOurs;
    std::int64_t value = 0;
    bool fits = false;
    const std::string_view text = Quoted(message, at);
    if (name == "max_wal_size") {
        event.setting = SettingName::kMaxWalSize;
        fits = ParseSize(text, kMiB, value);
        event.value = static_cast<double>(value);
    } else if (name == "checkpoint_timeout") {
        event.setting = SettingName::kCheckpointTimeout;
        fits = ParseTime(text, kSecond, value) && value > 0;
        event.value = static_cast<double>(value);
    } else if (name == "checkpoint_completion_target") {
        event.setting = SettingName::kCompletionTarget;
        const std::string number(text);
        char* end = nullptr;
        event.value = std::strtod(number.c_str(), &end);
        fits = !number.empty() && *end == '\0' && event.value >= 0 && event.value <= 1;
    } else {
        return Reading::kNotOurs;
    }
    event.kind = EventKind::kSetting;
    if (fits) return Reading::kRead;
    // Removed from the file: no value is quoted, or in Ukrainian the words for the default.
    event.value = -1;
    const bool figure = text.find_first_of("0123456789") != std::string_view::npos;
    if (!figure && message.find("changed") == std::string_view::npos) return Reading::kRead;
    return Reading::kUnreadable;
}

}  // namespace walsizer::cli
