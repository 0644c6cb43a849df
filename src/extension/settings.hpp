// The walsizer.* settings.
#pragma once

#include "compat.hpp"
#include "walsizer/settings.hpp"

void walsizer_define_settings();
walsizer::TunerSettings walsizer_settings();
uint32 walsizer_history_size();
