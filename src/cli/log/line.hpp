// Reads one log line: whose it is, when it was written, and what it says. Any log_line_prefix, csvlog,
// jsonlog, syslog, and what containers and cloud consoles wrap around them.
#pragma once

#include "cli/log/event.hpp"
#include "cli/log/message.hpp"
#include "cli/log/scan.hpp"

namespace walsizer::cli {

Reading ReadLine(const Candidate& candidate, Event& event);

// Whether this looks like a PostgreSQL server log at all, judged by its first lines.
bool LooksLikeServerLog(std::string_view beginning);

// The parts for each form of line; ReadLine() chooses.
Reading ReadTextLine(std::string_view line, std::string_view rest, Event& event);
bool ReadCsvLine(std::string_view line, std::string_view rest, Event& event, Reading& reading);
bool ReadJsonLine(std::string_view line, Event& event, Reading& reading);

}  // namespace walsizer::cli
