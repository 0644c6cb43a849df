#include "cli/config_lines.hpp"

#include <fmt/format.h>

#include "cli/quantity.hpp"

namespace walsizer::cli {

ConfigLine LineFor(Place place, Bytes max_wal_size) {
    const std::string value = SizeSetting(max_wal_size);
    const std::int64_t megabytes = max_wal_size / kMiB;
    switch (place) {
        case Place::kConf:
            return {"postgresql.conf, then reload", fmt::format("max_wal_size = {}", value)};
        case Place::kSql:
            return {"psql, as a superuser", fmt::format("ALTER SYSTEM SET max_wal_size = '{}';\n"
                                                        "SELECT pg_reload_conf();",
                                                        value)};
        case Place::kPatroni:
            return {"Patroni", fmt::format("patronictl edit-config -p max_wal_size={}", value)};
        case Place::kCnpg:
            return {"CloudNativePG, in the Cluster resource",
                    fmt::format("spec:\n  postgresql:\n    parameters:\n      max_wal_size: \"{}\"", value)};
        case Place::kRds:
            return {"Amazon RDS, DB parameter group (MB)", fmt::format("max_wal_size = {}", megabytes)};
        case Place::kCloudSql:
            return {"Google Cloud SQL, database flag (MB)", fmt::format("max_wal_size={}", megabytes)};
        case Place::kAzure:
            return {"Azure Database for PostgreSQL, server parameter (MB)",
                    fmt::format("max_wal_size = {}", megabytes)};
        case Place::kCommandLine:
            return {"the server's command line, which overrides every file; then restart",
                    fmt::format("-c max_wal_size={}", value)};
    }
    return {};
}

std::vector<ConfigLine> LinesFor(const std::vector<Place>& places, Bytes max_wal_size) {
    std::vector<ConfigLine> lines;
    for (const Place place : places) lines.push_back(LineFor(place, max_wal_size));
    return lines;
}

}  // namespace walsizer::cli
