// What a log shows of the settings it was written under, without saying so.
#pragma once

#include <deque>
#include <variant>

#include "cli/log/lane.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

struct SettingChange {
    SettingName name = SettingName::kMaxWalSize;
    double value = 0;  // as in Event
    std::optional<Instant> at;
};

struct LoggedItem {
    std::size_t lane = 0;
    std::variant<LoggedCheckpoint, SettingChange> what;
};

struct Guess {
    SettingsInForce settings;
    Bytes smallest_forced = -1;  // least WAL after which one was forced, stale ones left out
};

struct VersionFacts {
    int major = 0;            // 0: the log does not say
    bool before_ten = false;  // messages of 9.6 or older
    bool rds = false;
};

// Defaults, then what the items show, then the options.
Guess GuessSettings(const std::deque<LoggedItem>& items, const VersionFacts& version,
                    const SettingOptions& options);

// A change that the log reports, unless an option has the last word.
void ApplyChange(const SettingChange& change, const SettingOptions& options, SettingsInForce& settings);

}  // namespace walsizer::cli
