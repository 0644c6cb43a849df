// The settings and statistics beside max_wal_size, gathered over SQL for the engine's advice.
#pragma once

#include "cli/advice.hpp"
#include "cli/server/connection.hpp"
#include "cli/server/cycle_feed.hpp"
#include "cli/server/server_traces.hpp"
#include "walsizer/advice.hpp"

namespace walsizer::cli {

// The replication slot that keeps the most WAL, if any does. What the archiver and wal_keep_size keep is not
// visible over SQL.
HeldWal FindHeldWal(Connection& connection);

// Findings for `advice`, whose need and settings are known. `volume.known` tells whether free space is.
std::vector<Finding> AdviseNeighbours(Connection& connection, const ServerTraces& traces,
                                      const CycleFeed& feed, const ServerAdvice& advice,
                                      const VolumeFacts& volume);

}  // namespace walsizer::cli
