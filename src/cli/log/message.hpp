// Reads PostgreSQL's messages about checkpoints, 9.5 to 19, in every language it has a catalog for.
#pragma once

#include <string_view>

#include "cli/log/event.hpp"

namespace walsizer::cli {

enum class Level : std::uint8_t {
    kUnknown,  // the line has none
    kLog,
    kHint,
    kOther,  // ERROR, STATEMENT, ...: quotes others at most
};

// The level a word such as "LOG" or "СООБЩЕНИЕ" stands for; kUnknown when it is no level.
Level LevelOf(std::string_view word);

enum class Reading : std::uint8_t {
    kNotOurs,  // the message concerns something else
    kRead,
    kUnreadable,  // it concerns checkpoints, but cannot be read
};

// `rest` is what follows the line, for messages of several lines and for lines that were wrapped.
Reading ReadMessage(std::string_view message, std::string_view rest, Level level, Event& event);

// parameter "max_wal_size" changed to "4GB": a quoted name and a quoted value, whatever the words.
Reading ReadSetting(std::string_view message, Event& event);

}  // namespace walsizer::cli
