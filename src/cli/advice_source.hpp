// Where advice comes from: logs, or a server that is watched. One set of options for all commands that need
// it.
#pragma once

#include <string>
#include <vector>

#include "cli/advice.hpp"
#include "cli/server/connection.hpp"
#include "cli/server/watch_server.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

struct AdviceSource {
    std::vector<std::string> logs;  // empty: the server
    SettingOptions settings;
    ConnectionOptions connection;
    WatchOptions watch;
    CeilingOptions ceilings;
};

void AddSourceOptions(CLI::App& command, AdviceSource& source);

// Reads the logs, and shows progress where somebody looks.
Advice AdviseFromLogs(const AdviceSource& source);

Advice AdviseFromServer(Connection& connection, const AdviceSource& source);

}  // namespace walsizer::cli
