// One screen of `walsizer watch`: drawn from values, so that every size of terminal can be tested.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/show/extension.hpp"
#include "cli/show/glyphs.hpp"

namespace walsizer::cli {

struct LiveData {
    std::string where;
    Timestamp now = 0;
    ExtensionStatus status;
    std::vector<ExtensionCheckpoint> checkpoints;  // newest first
    std::vector<ExtensionDecision> decisions;      // newest first
    std::vector<double> rates;                     // bytes/s, oldest first, one a look
    std::string trouble;                           // no connection: why; the rest is what was seen last
};

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t lines = 24;
};

// At most `size.lines` lines of at most `size.columns` columns (drawn for 60 at least), without a line break
// at the end.
std::vector<std::string> DrawLive(const LiveData& data, ScreenSize size, const Glyphs& glyphs,
                                  const Style& style);

// The same as one line of a log, and its heading.
std::string LiveHeading();
std::string LiveLine(const LiveData& data);

}  // namespace walsizer::cli
