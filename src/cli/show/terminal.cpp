#include "cli/show/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/server/interrupt.hpp"

namespace walsizer::cli {

namespace {

// Lines that are too long are cut off, not continued.
constexpr const char* kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr const char* kLeave = "\033[?7h\033[?25h\033[?1049l";

}  // namespace

Terminal::Terminal() {
    if (tcgetattr(STDIN_FILENO, &before_) == 0) {
        termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
        quiet.c_cc[VMIN] = 0;
        quiet.c_cc[VTIME] = 0;
        // Suspended, the screen would stay behind.
        quiet.c_cc[VSUSP] = _POSIX_VDISABLE;
        changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
    }
    reads_ = changed_;
    if (changed_) RestoreOnExit(&before_, kLeave);
    std::fputs(kEnter, stdout);
    std::fflush(stdout);
}

Terminal::~Terminal() {
    std::fputs(kLeave, stdout);
    std::fflush(stdout);
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    RestoreOnExit(nullptr, {});
}

ScreenSize Terminal::Size() {
    winsize window = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
    return {window.ws_col, window.ws_row};
}

void Terminal::Show(const std::vector<std::string>& lines) {
    // One write, no clearing in between: nothing flickers.
    std::string text = "\033[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += lines[i] + "\033[K";
        if (i + 1 < lines.size()) text += "\r\n";
    }
    text += "\033[J";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

bool Terminal::WaitForQuit(Micros time) {
    if (WaitFor(time, reads_ ? STDIN_FILENO : -1) != Wake::kReadable) return false;
    char typed = 0;
    const auto got = read(STDIN_FILENO, &typed, 1);
    // An input that ended would be readable for ever.
    if (got <= 0) reads_ = false;
    return got == 1 && (typed == 'q' || typed == 'Q');
}

}  // namespace walsizer::cli
