// Looks at a server over SQL, 13 to 19, with whatever rights the role has.
#pragma once

#include <string>
#include <vector>

#include "cli/server/connection.hpp"
#include "cli/server/sample.hpp"

namespace walsizer::cli {

// What the role may read, and the server has.
struct Sight {
    bool redo = false;                 // pg_control_checkpoint()
    bool counters = false;             // pg_stat_checkpointer, pg_stat_bgwriter
    bool wal_statistics = false;       // pg_stat_wal, 14 and later
    bool wal_directory = false;        // pg_ls_waldir()
    std::vector<std::string> missing;  // sentences: what cannot be seen, and what that costs
};

// Tries each source on its own. Throws ConnectionLost.
Sight FindSight(Connection& connection);

// The statement that Look() runs: one round trip.
std::string LookStatement(int version, const Sight& sight);

// Throws ConnectionLost, StatementFailed.
Sample Look(Connection& connection, const Sight& sight);

// Of all of pg_wal; 0 when it cannot be seen.
Bytes WalDirectorySize(Connection& connection, const Sight& sight);

// "16/B374D848", also with leading zeros as 19 prints it; 0 for anything else.
Lsn ParseLsn(const std::string& text);

}  // namespace walsizer::cli
