#include "cli/sizing_options.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

// An option with a unit, as in postgresql.conf.
template <typename Value>
void AddQuantity(CLI::App& command, const char* name, const char* type, const char* help,
                 bool (*parse)(std::string_view, std::int64_t, std::int64_t&), std::int64_t plain_unit,
                 std::int64_t least, Value set) {
    command
        .add_option_function<std::string>(
            name,
            [=](const std::string& text) {
                std::int64_t value = 0;
                if (!parse(text, plain_unit, value) || value < least)
                    throw CLI::ValidationError(name, "\"" + text + "\" is no such value");
                set(value);
            },
            help)
        ->type_name(type);
}

}  // namespace

void SettingOptions::Apply(SettingsInForce& settings) const {
    if (max_wal_size) settings.max_wal_size = {*max_wal_size, Origin::kOption};
    if (checkpoint_timeout) settings.checkpoint_timeout = {*checkpoint_timeout, Origin::kOption};
    if (completion_target) settings.completion_target = {*completion_target, Origin::kOption};
    if (segment_size) settings.segment_size = {*segment_size, Origin::kOption};
}

void AddSettingOptions(CLI::App& command, SettingOptions& options) {
    AddQuantity(command, "--max-wal-size", "SIZE", "max_wal_size of the server, such as 4GB", ParseSize, kMiB,
                2 * kMiB, [&options](std::int64_t value) { options.max_wal_size = value; });
    AddQuantity(command, "--checkpoint-timeout", "TIME", "Its checkpoint_timeout, such as 15min", ParseTime,
                kSecond, kSecond, [&options](std::int64_t value) { options.checkpoint_timeout = value; });
    command
        .add_option_function<double>(
            "--completion-target", [&options](double value) { options.completion_target = value; },
            "Its checkpoint_completion_target (0.9; 0.5 up to version 13)")
        ->check(CLI::Range(0.0, 1.0).description(""))
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--segment-size",
            [&options](const std::string& text) {
                Bytes size = 0;
                if (!ParseSize(text, kMiB, size) || size < kMiB || size > kGiB || (size & (size - 1)) != 0)
                    throw CLI::ValidationError("--segment-size", "a power of two from 1MB to 1GB");
                options.segment_size = size;
            },
            "Its wal_segment_size (16MB; 64MB on Amazon RDS)")
        ->type_name("SIZE");
}

void AddCeilingOptions(CLI::App& command, CeilingOptions& options) {
    AddQuantity(command, "--max", "SIZE", "Never recommend more than this", ParseSize, kMiB, 2 * kMiB,
                [&options](std::int64_t value) { options.max = value; });
    AddQuantity(command, "--wal-volume", "SIZE", "Size of the volume that pg_wal is on", ParseSize, kMiB, 1,
                [&options](std::int64_t value) { options.wal_volume = value; });
    AddQuantity(command, "--disk-free", "SIZE", "Free space there", ParseSize, kMiB, 0,
                [&options](std::int64_t value) { options.disk_free = value; });
    AddQuantity(command, "--max-recovery-time", "TIME",
                "Longest crash recovery that is acceptable (5min); 0: any", ParseTime, kSecond, 0,
                [&options](std::int64_t value) { options.max_recovery_time = value; });
    AddQuantity(command, "--replay-rate", "SIZE", "WAL that recovery replays per second (measured, or 64MB)",
                ParseSize, kMiB, 1,
                [&options](std::int64_t value) { options.replay_rate = static_cast<double>(value); });
}

}  // namespace walsizer::cli
