// What a DBA should know about a log besides the recommended size.
#pragma once

#include <vector>

#include "cli/advice.hpp"
#include "cli/log/server_log.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

std::vector<Finding> LogFindings(const LoggedServer& server, const ServerAdvice& advice,
                                 const CeilingOptions& ceilings);

}  // namespace walsizer::cli
