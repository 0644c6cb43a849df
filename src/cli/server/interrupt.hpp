// Ctrl-C and SIGTERM end a command early, with what it has; a second one ends the program at once.
#pragma once

#include <string_view>

#include "walsizer/units.hpp"

namespace walsizer::cli {

// From here on a signal is only noted. `restore` is written to the terminal when a second one ends the
// program.
void CatchInterrupts(std::string_view restore = {});
bool Interrupted();

// Whether the terminal changed its size since the last call.
bool TookResize();

// While it lives, signals arrive as they come: for waits that are not ours.
class SignalsThrough {
  public:
    SignalsThrough();
    ~SignalsThrough();
    SignalsThrough(const SignalsThrough&) = delete;
};

enum class Wake { kTime, kReadable, kSignal };

// Waits for `time` at most; also for `descriptor` to become readable, unless it is -1. A signal ends it
// early.
Wake WaitFor(Micros time, int descriptor = -1);

// Of the monotonic clock.
Micros MonotonicNow();

}  // namespace walsizer::cli
