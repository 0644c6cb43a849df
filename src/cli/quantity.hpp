// Sizes and durations as PostgreSQL writes and reads them in settings: "16GB", "541MB", "5min".
#pragma once

#include <string>
#include <string_view>

#include "walsizer/units.hpp"

namespace walsizer::cli {

// The largest unit in which the value is whole, as SHOW prints it.
std::string SizeSetting(Bytes size);
std::string TimeSetting(Micros time);

// For people: "541 MB", "2.5 GB"; "8.0 s", "5:00".
std::string SizeForPeople(double size);
std::string TimeForPeople(Micros time);

// Reads them back, units as in postgresql.conf (B, kB, MB, GB, TB; us, ms, s, min, h, d; both also with a
// space before the unit). A number without a unit has `unit`. False, with `result` untouched, for anything
// else, for negative values and for what no setting could hold.
bool ParseSize(std::string_view text, Bytes unit, Bytes& result);
bool ParseTime(std::string_view text, Micros unit, Micros& result);

}  // namespace walsizer::cli
