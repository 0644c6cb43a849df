// `walsizer status`: the status view for people.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/show/extension.hpp"

namespace walsizer::cli {

std::string StatusAsText(const std::string& where, const ExtensionStatus& status,
                         const std::vector<ExtensionDecision>& decisions, const Style& style);

// "in 0:15 at 14 MB/s", "not before the timer", "never: no WAL is written".
std::string ForcedIn(const ExtensionStatus& status);

// "1024 MB to 2048 MB", or the one size there is.
std::string Change(const ExtensionDecision& decision, const std::string& arrow);

}  // namespace walsizer::cli
