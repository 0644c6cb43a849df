// The engine's findings in the program's words.
#pragma once

#include <vector>

#include "cli/advice.hpp"
#include "walsizer/advice.hpp"

namespace walsizer::cli {

// `by_sql`: ALTER SYSTEM is the user's to run; managed services have their own place for settings.
std::vector<Finding> InWords(const Findings& findings, bool by_sql);

}  // namespace walsizer::cli
