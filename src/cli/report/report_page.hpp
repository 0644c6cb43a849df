// The report: one page that needs nothing else. report.html is the page; this fills in what it shows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/advice.hpp"
#include "cli/server/connection.hpp"

namespace walsizer::cli {

// What the page's script reads; see there for each name.
nlohmann::ordered_json ReportOf(const Advice& advice);
// From a server with the extension: its whole history. Throws ConnectionLost, StatementFailed.
nlohmann::ordered_json ReportOf(Connection& connection);

// The whole page. Whatever strings the report holds, they can be nothing but text there.
std::string Page(const nlohmann::ordered_json& report);

}  // namespace walsizer::cli
