// Options that say what cannot be seen: settings that a log does not show, ceilings that SQL does not show.
#pragma once

#include <optional>

#include "cli/advice.hpp"
#include "walsizer/units.hpp"

namespace CLI {
class App;
}

namespace walsizer::cli {

struct SettingOptions {
    std::optional<Bytes> max_wal_size;
    std::optional<Micros> checkpoint_timeout;
    std::optional<double> completion_target;
    std::optional<Bytes> segment_size;

    void Apply(SettingsInForce& settings) const;
};

struct CeilingOptions {
    std::optional<Bytes> max;                // absolute ceiling
    std::optional<Bytes> wal_volume;         // size of the volume pg_wal is on
    std::optional<Bytes> disk_free;          // free there
    Micros max_recovery_time = 5 * kMinute;  // 0: no such ceiling
    std::optional<double> replay_rate;       // bytes/s; else measured, or assumed
};

void AddSettingOptions(CLI::App& command, SettingOptions& options);
void AddCeilingOptions(CLI::App& command, CeilingOptions& options);

}  // namespace walsizer::cli
