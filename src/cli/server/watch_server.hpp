// Watches a server over SQL for a while, through restarts and lost connections.
#pragma once

#include <functional>
#include <string>

#include "cli/server/connection.hpp"
#include "cli/server/cycle_feed.hpp"
#include "cli/server/observe_server.hpp"

namespace CLI {
class App;
}

namespace walsizer::cli {

struct WatchOptions {
    Micros duration = 10 * kMinute;
};

void AddWatchOptions(CLI::App& command, WatchOptions& options);

struct WatchResult {
    std::vector<std::string> notes;  // sentences: what was not watched, and why
    bool interrupted = false;        // ended early by the user
};

// Fills `feed`, and draws a progress bar on standard error where somebody looks. Throws std::runtime_error
// when there is no look at all.
WatchResult WatchServer(Connection& connection, const Sight& sight, const WatchOptions& options,
                        CycleFeed& feed);

// "watching  ██████      3:20 of 10:00   WAL 1.2 GB   2 forced, 1 timed", at most `columns` wide.
std::string ProgressLine(Micros elapsed, Micros duration, const CycleFeed& feed, std::size_t columns);

}  // namespace walsizer::cli
