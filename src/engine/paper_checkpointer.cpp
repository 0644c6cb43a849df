#include "walsizer/paper_checkpointer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace walsizer {

namespace {

double Seconds(Micros time) noexcept {
    return static_cast<double>(time) / kSecond;
}

// Pages of a set that are touched for the first time in `seconds`, `touched` being done already.
double FirstTouches(const PageSet& set, double touched, double seconds) noexcept {
    if (set.touches <= 0) return 0;
    if (set.pages <= 0) return set.touches * seconds;
    const double left = std::max(set.pages - touched, 0.0);
    return left * -std::expm1(-set.touches * seconds / set.pages);
}

// How many of a set's changes are first touches just now, per second.
double FirstTouchRate(const PageSet& set, double touched, double seconds) noexcept {
    if (set.touches <= 0) return 0;
    if (set.pages <= 0) return set.touches;
    const double left = std::max(set.pages - touched, 0.0);
    return left / set.pages * set.touches * std::exp(-set.touches * seconds / set.pages);
}

}  // namespace

PaperCheckpointer::PaperCheckpointer(const ServerSettings& server, Lsn start, Micros now) noexcept
    : server_(server),
      now_(now),
      redo_(start),
      redo_at_(now),
      timer_from_(now),
      busy_until_(now),
      since_redo_(static_cast<double>(kOwnRecords)),
      record_bytes_(static_cast<double>(kOwnRecords)) {}

// PostgreSQL's timer counts whole seconds (checkpointer.c:CheckpointerMain(), time(NULL)).
Micros PaperCheckpointer::timer_due() const noexcept {
    return timer_from_ / kSecond * kSecond + server_.checkpoint_timeout;
}

double PaperCheckpointer::TouchedPages() const noexcept {
    double pages = 0;
    for (const double touched : touched_) pages += touched;
    return pages;
}

double PaperCheckpointer::Images(double seconds, const PaperLoad& load) const noexcept {
    double pages = 0;
    for (unsigned i = 0; i < PaperLoad::kSets; ++i) pages += FirstTouches(load.sets[i], touched_[i], seconds);
    return pages * load.image_size;
}

double PaperCheckpointer::WalIn(Micros time, const PaperLoad& load) const noexcept {
    const double seconds = Seconds(std::max<Micros>(time, 0));
    return load.records * seconds + Images(seconds, load);
}

double PaperCheckpointer::Rate(const PaperLoad& load) const noexcept {
    double pages = 0;
    for (unsigned i = 0; i < PaperLoad::kSets; ++i) pages += FirstTouchRate(load.sets[i], touched_[i], 0);
    return load.records + pages * load.image_size;
}

double PaperCheckpointer::Slowdown(const PaperLoad& load) const noexcept {
    double slowdown = 0;
    for (unsigned i = 0; i < PaperLoad::kSets; ++i)
        if (const PageSet& set = load.sets[i]; set.pages > 0)
            slowdown += FirstTouchRate(set, touched_[i], 0) * load.image_size * set.touches / set.pages;
    return slowdown;
}

Micros PaperCheckpointer::TimeFor(double bytes, const PaperLoad& load, Micros most) const noexcept {
    if (bytes <= 0) return 0;
    if (most <= 0 || WalIn(most, load) < bytes) return -1;
    // WAL over time is concave and rises: Newton's steps come from the left and never pass the root;
    // bisection stands by for what rounding does.
    double low = 0;
    double high = Seconds(most);
    double at = 0;
    for (int step = 0; step < 60 && (high - low) * kSecond > 0.25; ++step) {
        const double missing = bytes - load.records * at - Images(at, load);
        (missing > 0 ? low : high) = at;
        double rate = load.records;
        for (unsigned i = 0; i < PaperLoad::kSets; ++i)
            rate += FirstTouchRate(load.sets[i], touched_[i], at) * load.image_size;
        const double next = rate > 0 ? at + missing / rate : high;
        if (missing > 0 && (next - at) * kSecond < 0.25) {
            high = std::min(high, next);
            break;
        }
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return std::min(static_cast<Micros>(std::ceil(high * kSecond)), most);
}

// The trigger is asked for when a segment is finished (XLogWrite()): after a lowering that is the present
// one.
double PaperCheckpointer::LeftToTrigger() const noexcept {
    const Lsn trigger = TriggerPosition(redo_, CheckpointSegments(server_), server_.segment_size);
    const Lsn segment_end = TriggerPosition(position(), 1, server_.segment_size);
    return static_cast<double>(std::max(trigger, segment_end) - redo_) - since_redo_;
}

Micros PaperCheckpointer::UntilTrigger(const PaperLoad& load, Micros most) const noexcept {
    return wanted_ ? 0 : TimeFor(LeftToTrigger(), load, most);
}

void PaperCheckpointer::Write(Micros time, const PaperLoad& load) noexcept {
    const double seconds = Seconds(time);
    const double records = load.records * seconds;
    const double images = Images(seconds, load);
    for (unsigned i = 0; i < PaperLoad::kSets; ++i)
        touched_[i] += FirstTouches(load.sets[i], touched_[i], seconds);
    since_redo_ += records + images;
    record_bytes_ += records;
    image_bytes_ += images;
    now_ += time;
}

void PaperCheckpointer::Start(PaperEvent event, PaperStep& step) noexcept {
    step.event = event;
    timer_from_ = now_;
    if (event == PaperEvent::kSkipped) return;
    const Lsn redo = position();
    step.wal_bytes = static_cast<Bytes>(redo - redo_);
    step.cycle_time = now_ - redo_at_;
    step.touched_pages = TouchedPages();
    since_redo_ += static_cast<double>(kOwnRecords) - static_cast<double>(redo - redo_);
    record_bytes_ += static_cast<double>(kOwnRecords);
    redo_ = redo;
    redo_at_ = now_;
    std::fill(std::begin(touched_), std::end(touched_), 0.0);
    wanted_ = requested_ = false;
}

void PaperCheckpointer::Recovered(Micros downtime) noexcept {
    now_ += downtime;
    busy_until_ = now_;
    PaperStep step;
    Start(PaperEvent::kRequested, step);
}

PaperStep PaperCheckpointer::Advance(const PaperLoad& load, Micros most) noexcept {
    PaperStep step;
    while (step.event == PaperEvent::kNone) {
        const bool free = now_ >= busy_until_;
        if (free && wanted_) {
            Start(PaperEvent::kForced, step);
        } else if (free && requested_) {
            Start(PaperEvent::kRequested, step);
        } else if (free && now_ >= timer_due()) {
            Start(Idle() ? PaperEvent::kSkipped : PaperEvent::kTimed, step);
        } else if (step.elapsed >= most) {
            break;
        } else {
            const Micros next = std::min(most - step.elapsed, (free ? timer_due() : busy_until_) - now_);
            const double left = LeftToTrigger();
            const Micros reached = wanted_ ? -1 : TimeFor(left, load, next);
            const Micros time = reached >= 0 ? reached : next;
            const double before = since_redo_;
            Write(time, load);
            step.elapsed += time;
            if (reached >= 0) {
                wanted_ = true;
                since_redo_ = std::max(since_redo_, before + left);  // rounding must not end a byte short
            }
        }
    }
    return step;
}

}  // namespace walsizer
