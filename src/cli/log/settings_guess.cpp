#include "cli/log/settings_guess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

constexpr Micros kShortestTimeout = 30 * kSecond;  // PostgreSQL's minimum
constexpr Micros kLongestTimeout = 24 * kHour;
// Checkpoints start up to this late: the timer is looked at once a second, and stamps may be whole seconds.
constexpr Micros kLate = 2 * kSecond;
// WAL files that went and WAL that was written agree this well, over enough of them.
constexpr double kFileError = 0.12;
constexpr std::int64_t kEnoughFiles = 24;
constexpr std::size_t kEnoughForced = 3;

const LoggedCheckpoint* CheckpointOf(const LoggedItem& item) {
    return std::get_if<LoggedCheckpoint>(&item.what);
}

// The timer counts from the start of the checkpoint before, whatever its cause, and skips idle ticks: so
// the shortest interval before a timed one is checkpoint_timeout.
void GuessTimeout(const std::deque<LoggedItem>& items, SettingsInForce& settings) {
    std::map<std::size_t, Instant> previous;
    Micros shortest = kLongestTimeout + kLate;
    Micros longest_write = -1;
    for (const LoggedItem& item : items) {
        const LoggedCheckpoint* checkpoint = CheckpointOf(item);
        if (checkpoint == nullptr) {  // from a change on, the log says it itself
            if (std::get<SettingChange>(item.what).name == SettingName::kCheckpointTimeout) break;
            continue;
        }
        if (checkpoint->cause == Cause::kTime)
            longest_write = std::max(longest_write, checkpoint->figures.write);
        if (!checkpoint->at || !checkpoint->started) continue;
        const auto before = previous.find(item.lane);
        if (before != previous.end() && !checkpoint->broken_off && checkpoint->cause == Cause::kTime &&
            before->second.dated == checkpoint->at->dated) {
            const Micros interval = checkpoint->at->at - before->second.at;
            if (interval >= kShortestTimeout - kSecond) shortest = std::min(shortest, interval);
        }
        previous[item.lane] = *checkpoint->at;
    }
    auto& timeout = settings.checkpoint_timeout;
    if (shortest <= kLongestTimeout) {
        // Settings are round figures; a checkpoint starts late, not early.
        const Micros second = (shortest + kSecond / 2) / kSecond;
        const Micros five = second / 5 * 5;
        timeout.value = std::max(second - five <= kLate / kSecond ? five : second, Micros{30}) * kSecond;
        if (std::abs(shortest - 5 * kMinute) <= kLate) timeout.value = 5 * kMinute;
        timeout.origin = Origin::kLog;
        timeout.note = fmt::format("timed checkpoints come {} s apart", timeout.value / kSecond);
    } else if (longest_write > timeout.value) {
        // It is spread over completion_target of the timeout at the most, and no target in use is larger.
        const double least =
            static_cast<double>(longest_write) / std::max(settings.completion_target.value, 0.9);
        timeout.value = static_cast<Micros>(std::ceil(least / kMinute)) * kMinute;
        timeout.origin = Origin::kLog;
        timeout.note =
            fmt::format("at least: a timed checkpoint was written over {}", TimeForPeople(longest_write));
    }
}

void GuessSegmentSize(const std::deque<LoggedItem>& items, const VersionFacts& version,
                      SettingsInForce& settings) {
    double bytes = 0;
    std::int64_t files = 0;
    Bytes exact = 0;  // one file went, and one file's worth was written
    for (const LoggedItem& item : items) {
        const LoggedCheckpoint* checkpoint = CheckpointOf(item);
        if (checkpoint == nullptr || checkpoint->figures.files_gone < 0 || checkpoint->figures.distance <= 0)
            continue;
        bytes += static_cast<double>(checkpoint->figures.distance);
        files += checkpoint->figures.files_gone;
        if (checkpoint->figures.files_gone == 1) exact = checkpoint->figures.distance;
    }
    auto& segment = settings.segment_size;
    for (Bytes size = kMiB; size <= kGiB; size *= 2) {
        const double whole = static_cast<double>(files) * static_cast<double>(size);
        const bool fits = files >= kEnoughFiles && std::abs(bytes - whole) <= kFileError * whole;
        if (!fits && exact != size) continue;
        segment = {size, Origin::kLog, "by the WAL files that each checkpoint recycled"};
        return;
    }
    if (version.rds && version.major != 10 && !version.before_ten)
        segment = {64 * kMiB, Origin::kLog, "the log is Amazon RDS's"};
}

// Forced checkpoints come at the trigger or, when it is overdue, later: the least distance tells the most
// that max_wal_size can be.
void GuessMaxWalSize(const std::deque<LoggedItem>& items, Guess& guess) {
    std::vector<Bytes> distances;
    for (const LoggedItem& item : items) {
        const LoggedCheckpoint* checkpoint = CheckpointOf(item);
        if (checkpoint == nullptr) {
            if (std::get<SettingChange>(item.what).name == SettingName::kMaxWalSize) break;
            continue;
        }
        if (checkpoint->started && checkpoint->cause == Cause::kWal && checkpoint->figures.distance > 0 &&
            !checkpoint->figures.distance_cut)
            distances.push_back(checkpoint->figures.distance);
    }
    if (distances.empty()) return;
    std::sort(distances.begin(), distances.end());
    guess.smallest_forced = distances.front();
    // Now and then two follow each other closely; one in eight may be such.
    const Bytes least = distances[distances.size() / 8];
    const ServerSettings server = guess.settings.ForEngine();
    const Bytes segment = server.segment_size;
    const std::int64_t most_segments = least / segment + 1;
    const std::int64_t assumed = CheckpointSegments(server);
    const bool smaller = most_segments < assumed;
    const bool larger = distances.size() >= kEnoughForced && most_segments > assumed + assumed / 4;
    if (!smaller && !larger) return;
    // The largest setting whose trigger is not beyond what was seen.
    const auto size = static_cast<Bytes>(std::ceil(static_cast<double>(most_segments + 1) *
                                                   (1.0 + server.completion_target))) -
                      1;
    guess.settings.max_wal_size = {
        std::max<Bytes>(size, 2) * segment, Origin::kLog,
        fmt::format("at most: checkpoints were forced after {}", SizeForPeople(static_cast<double>(least)))};
}

}  // namespace

Guess GuessSettings(const std::deque<LoggedItem>& items, const VersionFacts& version,
                    const SettingOptions& options) {
    Guess guess;
    SettingsInForce& settings = guess.settings;
    if (version.before_ten || (version.major > 0 && version.major < 14)) {
        settings.completion_target.value = 0.5;
        if (version.major > 0)
            settings.completion_target.note = fmt::format("that of PostgreSQL {}", version.major);
    }
    if (options.completion_target) settings.completion_target = {*options.completion_target, Origin::kOption};
    GuessTimeout(items, settings);
    GuessSegmentSize(items, version, settings);
    options.Apply(settings);
    if (!options.max_wal_size) GuessMaxWalSize(items, guess);
    return guess;
}

void ApplyChange(const SettingChange& change, const SettingOptions& options, SettingsInForce& settings) {
    const SettingsInForce defaults;
    const bool reset = change.value < 0;
    switch (change.name) {
        case SettingName::kMaxWalSize:
            if (options.max_wal_size) return;
            settings.max_wal_size = {reset ? defaults.max_wal_size.value : static_cast<Bytes>(change.value),
                                     Origin::kLog};
            break;
        case SettingName::kCheckpointTimeout:
            if (options.checkpoint_timeout) return;
            settings.checkpoint_timeout = {
                reset ? defaults.checkpoint_timeout.value : static_cast<Micros>(change.value), Origin::kLog};
            break;
        case SettingName::kCompletionTarget:
            if (options.completion_target) return;
            settings.completion_target = {reset ? defaults.completion_target.value : change.value,
                                          Origin::kLog};
            break;
    }
    if (change.at) {
        const std::string note = fmt::format("changed at {}", Print(*change.at));
        if (change.name == SettingName::kMaxWalSize) settings.max_wal_size.note = note;
        if (change.name == SettingName::kCheckpointTimeout) settings.checkpoint_timeout.note = note;
        if (change.name == SettingName::kCompletionTarget) settings.completion_target.note = note;
    }
}

}  // namespace walsizer::cli
