// Reads logs of any size in constant memory, several files in order of the time in them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/log/server_log.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

struct LogFacts {
    std::vector<LoggedServer> servers;
    std::int64_t lines = 0;
    std::int64_t bytes = 0;
    std::int64_t unparsed = 0;
    std::int64_t duplicates = 0;
    std::vector<std::string> notes;
};

// `progress` is told now and then how many bytes were read. Throws std::runtime_error for files that cannot
// be read, are empty, or are no PostgreSQL server log.
LogFacts ReadLogs(const std::vector<std::string>& paths, const SettingOptions& options,
                  const std::function<void(std::int64_t)>& progress);

}  // namespace walsizer::cli
