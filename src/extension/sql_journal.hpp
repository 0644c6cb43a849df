#pragma once

#include "rows.hpp"
#include "shared_state.hpp"

// One row of walsizer.decisions.
void walsizer_fill_decision(WalsizerRow* row, const walsizer::DecisionRecord& decision);
