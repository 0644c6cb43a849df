// The terminal while a live view has it: another screen, no echo, no cursor; put back at the end, whatever
// ends it.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "cli/show/live_view.hpp"

namespace walsizer::cli {

class Terminal {
  public:
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;

    static ScreenSize Size();
    void Show(const std::vector<std::string>& lines);
    // Waits for `time`; true when the user typed q.
    bool WaitForQuit(Micros time);

  private:
    termios before_ = {};
    bool changed_ = false;
    bool reads_ = false;
};

}  // namespace walsizer::cli
