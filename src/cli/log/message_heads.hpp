// How PostgreSQL's messages about checkpoints begin, in every language.
#pragma once

#include <string_view>

#include "cli/log/event.hpp"

namespace walsizer::cli {

struct MessageHead {
    std::string_view text;
    EventKind kind;
    bool restartpoint;
};

// The one that `message` begins with; nullptr when none does.
const MessageHead* HeadOf(std::string_view message);

// "checkpoint comp": the line ends before it says what it is about to say.
bool IsCutHead(std::string_view message);

}  // namespace walsizer::cli
