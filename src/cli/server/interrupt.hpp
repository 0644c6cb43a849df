// Ctrl-C and SIGTERM end a command early, with what it has; a second one ends the program at once.
#pragma once

#include <string_view>

#include "walsizer/units.hpp"

struct termios;

namespace walsizer::cli {

// From here on a signal is only noted.
void CatchInterrupts();
// What a second signal does to the terminal before it ends the program: mode and text. nullptr: nothing.
void RestoreOnExit(const termios* mode, std::string_view text);
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
