// What one look over SQL tells.
#pragma once

#include "walsizer/observation.hpp"

namespace walsizer::cli {

struct Sample {
    // `redo` and `redo_age` are left open: SQL shows a redo point only when its checkpoint has completed.
    Observation seen;
    Lsn completed_redo = 0;      // of the latest completed checkpoint; 0: not visible to this role
    Timestamp completed_at = 0;  // when that checkpoint had started, in whole seconds
};

}  // namespace walsizer::cli
