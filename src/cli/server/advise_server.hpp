// `walsizer advise` on a live server: watch it, account with the engine, answer.
#pragma once

#include "cli/advice.hpp"
#include "cli/server/connection.hpp"
#include "cli/server/watch_server.hpp"
#include "cli/sizing_options.hpp"

namespace walsizer::cli {

// Throws std::exception when the server cannot be looked at even once.
Advice AdviseServer(Connection& connection, const WatchOptions& watch, const CeilingOptions& ceilings);

}  // namespace walsizer::cli
