// The comparison for people (tables of at most 80 columns) and for programs (CSV).
#pragma once

#include <ostream>
#include <vector>

#include "simulator/comparison.hpp"

namespace walsizer::simulator {

// One table for each figure, a trace in each line, with totals.
void PrintTables(std::ostream& out, const std::vector<TraceResult>& results);
// One line for each trace and policy, with a header.
void PrintCsv(std::ostream& out, const std::vector<TraceResult>& results);
// What walsizer promises, against these results: one line for each promise, with the figures. Returns how
// many were broken.
int PrintVerdict(std::ostream& out, const std::vector<TraceResult>& results);

}  // namespace walsizer::simulator
