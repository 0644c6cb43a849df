// From what a log says to advice.
#pragma once

#include "cli/advice.hpp"
#include "cli/log/reader.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

Advice AdviseByLog(const std::vector<std::string>& paths, const LogFacts& facts,
                   const CeilingOptions& ceilings);

}  // namespace walsizer::cli
