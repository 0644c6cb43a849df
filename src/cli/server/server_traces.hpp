// Where a server runs and where it is configured, told by the traces that services and tools leave in it.
#pragma once

#include <string>
#include <vector>

#include "cli/config_lines.hpp"
#include "cli/server/connection.hpp"

namespace walsizer::cli {

enum class Service { kSelfManaged, kRds, kCloudSql, kAzure };

struct ServerTraces {
    std::vector<std::string> databases;  // of pg_database
    std::vector<std::string> settings;   // names in pg_settings that hold a dot
    std::string own_storage;             // "Amazon Aurora": storage that replays WAL by itself; else empty
    bool cnpg = false;                   // cnpg.config_sha256 is set
    bool patroni_sessions = false;       // sessions named Patroni; seen with pg_monitor only
    // max_wal_size in pg_settings. The file is shown to pg_read_all_settings only.
    std::string source;
    std::string file;
    int line = 0;
    bool alter_system_allowed = true;  // allow_alter_system, 17 and later
};

ServerTraces FindTraces(Connection& connection);

Service ServiceOf(const ServerTraces& traces);
const char* Name(Service service);  // "Amazon RDS"

// Where to write another max_wal_size: one place when the traces tell which, else all that it may be.
std::vector<Place> PlacesOf(const ServerTraces& traces);

// Where the present value stands: "postgresql.conf line 12", "the server's command line", "PostgreSQL's
// default".
std::string SourceInWords(const ServerTraces& traces);

}  // namespace walsizer::cli
