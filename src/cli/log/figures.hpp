// The figures of a "checkpoint complete" message. They are found by their order and shape, which all of
// PostgreSQL's versions and translations share; only the words around them differ.
#pragma once

#include <string_view>

#include "cli/log/event.hpp"

namespace walsizer::cli {

// `text` follows the message's first colon; `rest` is what follows the line, in case it was wrapped. False
// when not even one figure could be read.
bool ReadFigures(std::string_view text, std::string_view rest, CheckpointFigures& figures);

// The first "10.00 s" as a duration, -1 without one; the first "0/E82D8528", 0 without one.
Micros FirstSeconds(std::string_view text);
Lsn FirstLsn(std::string_view text);

}  // namespace walsizer::cli
