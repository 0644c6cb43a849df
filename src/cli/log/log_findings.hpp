// What a DBA should know about a log besides the recommended size.
#pragma once

#include <vector>

#include "cli/advice.hpp"
#include "cli/log/log_record.hpp"
#include "cli/log/server_log.hpp"
#include "cli/sizing_options.hpp"
#include "walsizer/limits.hpp"

namespace walsizer::cli {

std::vector<Finding> LogFindings(const LoggedServer& server, const ServerAdvice& advice,
                                 const CeilingOptions& ceilings);

// Adds the engine's own advice, as far as a log shows the facts for it. Where both speak of the same thing,
// one finding has the evidence of both. `by_sql` as for InWords().
void AddEngineFindings(const LogRecord& record, const LimitFacts& limits, bool by_sql, ServerAdvice& advice);

}  // namespace walsizer::cli
