// max_wal_size as the line that each place of configuration wants.
#pragma once

#include <string>
#include <vector>

#include "cli/advice.hpp"

namespace walsizer::cli {

// Where a server is configured. Managed services have their own setting in their own unit, and no SQL.
enum class Place : std::uint8_t { kConf, kSql, kPatroni, kCnpg, kRds, kCloudSql, kAzure, kCommandLine };

ConfigLine LineFor(Place place, Bytes max_wal_size);
std::vector<ConfigLine> LinesFor(const std::vector<Place>& places, Bytes max_wal_size);

}  // namespace walsizer::cli
