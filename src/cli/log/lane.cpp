#include "cli/log/lane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "cli/calendar.hpp"

namespace walsizer::cli {

namespace {

// Lines of one event follow each other at once; stamps may be whole seconds.
constexpr Micros kTogether = 2 * kSecond;
// A checkpoint's own total and its lines' stamps agree this far: the total does not cover the logging.
constexpr Micros kTotalSlack = 3 * kSecond;
// Writers of one log step back this far without being out of order.
constexpr Micros kJitter = 5 * kSecond;

bool Together(const std::optional<Instant>& one, const std::optional<Instant>& other) {
    if (!one || !other) return true;
    Micros apart = std::abs(one->at - other->at);
    if (one->dated != other->dated) apart %= kDay;  // a line that lost its date
    return apart <= kTogether;
}

}  // namespace

void Lane::Emit(LoggedCheckpoint checkpoint) {
    checkpoint.broken_off = std::exchange(broken_, false);
    sink_(checkpoint);
}

void Lane::FlushFrequent() {
    if (frequent_) Emit(*std::exchange(frequent_, {}));
}

void Lane::FlushOpen() {
    if (open_) Emit(*std::exchange(open_, {}));
}

void Lane::Break() {
    FlushOpen();
    FlushFrequent();
    unhinted_.reset();
    latest_.reset();
    broken_ = true;
}

void Lane::Take(Event event) {
    if (event.at) {
        if (!event.at->dated) {
            event.at->at += day_shift_;
            if (latest_ && !latest_->dated && event.at->at < latest_->at - kDay / 2) {  // midnight
                day_shift_ += kDay;
                event.at->at += kDay;
            }
        }
        const bool comparable = latest_ && latest_->dated == event.at->dated;
        if (comparable && event.at->at < latest_->at - kJitter) Break();
        if (!latest_ || event.at->dated || !latest_->dated) latest_ = event.at;
    }
    switch (event.kind) {
        case EventKind::kFrequent:
            return TakeFrequent(event);
        case EventKind::kHint:
            return TakeHint(event);
        case EventKind::kStart:
            return TakeStart(event);
        case EventKind::kComplete:
            return TakeComplete(event);
        default:
            return;
    }
}

void Lane::TakeFrequent(const Event& event) {
    FlushFrequent();
    // The next one is about to start, so the open one has ended, whether its line was seen or not.
    FlushOpen();
    frequent_ = LoggedCheckpoint();
    frequent_->at = event.at;
    frequent_->cause = Cause::kWal;
    frequent_->seconds = event.seconds;
    unhinted_ = event.at ? event.at : Instant{0, 0, false};
}

// A hint whose message was cut off still tells of a forced checkpoint.
void Lane::TakeHint(const Event& event) {
    if (unhinted_ && Together(unhinted_, event.at)) {
        if (frequent_ && frequent_->at && event.at && !frequent_->at->dated) frequent_->at = event.at;
        unhinted_.reset();
        return;
    }
    FlushFrequent();
    FlushOpen();
    frequent_ = LoggedCheckpoint();
    frequent_->at = event.at;
    frequent_->cause = Cause::kWal;
    unhinted_.reset();
}

void Lane::TakeStart(const Event& event) {
    FlushOpen();
    LoggedCheckpoint checkpoint;
    checkpoint.at = event.at;
    checkpoint.cause = event.cause;
    checkpoint.started = true;
    if (frequent_ && event.cause == Cause::kWal && Together(frequent_->at, event.at)) {
        checkpoint.seconds = frequent_->seconds;
        frequent_.reset();
    }
    FlushFrequent();
    open_ = checkpoint;
}

void Lane::TakeComplete(const Event& event) {
    FlushFrequent();
    const Micros total = event.figures.total;
    std::optional<Instant> began = event.at;
    if (began && total >= 0)
        began->at -= total;
    else
        began.reset();
    if (open_ && open_->at && began &&
        std::abs(open_->at->at - began->at) > std::max(kTotalSlack, total / 10))
        FlushOpen();  // another one's: its own end and this one's beginning were lost
    LoggedCheckpoint checkpoint = open_.value_or(LoggedCheckpoint());
    open_.reset();
    if (!checkpoint.started) checkpoint.at = began;
    if (checkpoint.cause == Cause::kUnknown) checkpoint.cause = event.cause;
    if (event.restartpoint) checkpoint.cause = Cause::kRestartpoint;
    checkpoint.figures = event.figures;
    checkpoint.completed = event.at;
    Emit(checkpoint);
}

}  // namespace walsizer::cli
