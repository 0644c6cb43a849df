#include "cli/server/interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace walsizer::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t resized = 0;
char restore_text[64];
std::size_t restore_length = 0;
termios restore_mode;
bool restores = false;
sigset_t waiting_mask;  // the signals let through while waiting, and only then
sigset_t blocked_mask;
bool caught = false;

void Note(int) {
    if (interrupted != 0) {
        if (restores) tcsetattr(STDIN_FILENO, TCSANOW, &restore_mode);
        if (restores && write(STDOUT_FILENO, restore_text, restore_length) < 0) _exit(2);
        _exit(2);
    }
    interrupted = 1;
}

void NoteResize(int) {
    resized = 1;
}

void Handle(int signal_number, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
}

}  // namespace

void RestoreOnExit(const termios* mode, std::string_view text) {
    restores = mode != nullptr;
    if (!restores) return;
    restore_mode = *mode;
    restore_length = std::min(text.size(), sizeof restore_text);
    std::memcpy(restore_text, text.data(), restore_length);
}

void CatchInterrupts() {
    if (caught) return;
    caught = true;
    // A signal between the test of the flag and the wait would be slept over, so all of them are let through
    // during the wait only; outside of it they are pending for a moment at most.
    sigemptyset(&blocked_mask);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        Handle(number, Note);
        sigaddset(&blocked_mask, number);
    }
    Handle(SIGWINCH, NoteResize);
    sigaddset(&blocked_mask, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &blocked_mask, &waiting_mask);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigdelset(&waiting_mask, number);
    signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() {
    return interrupted != 0;
}

bool TookResize() {
    const bool was = resized != 0;
    resized = 0;
    return was;
}

SignalsThrough::SignalsThrough() {
    if (caught) pthread_sigmask(SIG_SETMASK, &waiting_mask, nullptr);
}
SignalsThrough::~SignalsThrough() {
    if (caught) pthread_sigmask(SIG_BLOCK, &blocked_mask, nullptr);
}

Wake WaitFor(Micros time, int descriptor) {
    pollfd readable = {descriptor, POLLIN, 0};
    const Micros rest = std::max<Micros>(time, 0);
    const timespec timeout = {static_cast<time_t>(rest / kSecond), static_cast<long>(rest % kSecond) * 1000};
    const int ready = ppoll(&readable, descriptor >= 0 ? 1 : 0, &timeout, caught ? &waiting_mask : nullptr);
    if (ready < 0 && errno == EINTR) return Wake::kSignal;
    return ready > 0 ? Wake::kReadable : Wake::kTime;
}

Micros MonotonicNow() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Micros>(now.tv_sec) * kSecond + now.tv_nsec / 1000;
}

}  // namespace walsizer::cli
