#include "walsizer/sizing.hpp"

#include <algorithm>
#include <cmath>

namespace walsizer {

namespace {

// A projection from less than a tenth of checkpoint_timeout says little: some seconds of a load that just
// began.
constexpr Micros kSoundShare = 10;

// Solves x / (e^x - 1) = ratio for x >= 0: how many time constants old a decay is whose present rate is
// `ratio` of its average so far. The left side falls from 1 at x = 0, so bisection is enough.
double DecayAge(double ratio) noexcept {
    if (ratio >= 1) return 0;
    double low = 0;
    double high = 50;
    for (int step = 0; step < 40; ++step) {
        const double middle = (low + high) / 2;
        const double value = middle < 1e-9 ? 1 : middle / std::expm1(middle);
        (value > ratio ? low : high) = middle;
    }
    return (low + high) / 2;
}

// Repeated full-page images inflate WAL about threefold at the most (measured: 2.6 times).
constexpr Bytes kInflation = 3;

// The most WAL of one checkpoint_timeout, windows added from the newest to the oldest. What was measured
// under frequent checkpoints counts unless a newer clean measurement of a comparable load says better.
struct LatelyPeak {
    Bytes clean = -1;
    Bytes inflated = -1;

    void Add(const WindowRecord& window) noexcept {
        clean = std::max(clean, window.clean_peak);
        if (window.peak > window.clean_peak && window.peak > kInflation * clean)
            inflated = std::max(inflated, window.peak);
    }
};

// A window recorded under another checkpoint_timeout measured another demand.
bool SameTimeout(const WindowRecord& window, Micros timeout) noexcept {
    return std::abs(static_cast<double>(window.length - timeout)) < 0.1 * static_cast<double>(timeout);
}

}  // namespace

Demand Project(const CycleSoFar& cycle, Micros remaining, const Pace& pace) noexcept {
    Demand demand;
    demand.seen = static_cast<double>(cycle.wal_bytes);
    const double left = static_cast<double>(std::max<Micros>(remaining, 0)) / kSecond;
    const double elapsed = static_cast<double>(cycle.elapsed) / kSecond;
    demand.unseen = pace.steady * left;
    if (!cycle.fpi.known || pace.fpi_share < 0 || elapsed <= 0) return demand;

    const double images_now = pace.steady * pace.fpi_share;
    const double images_average = demand.seen * cycle.fpi.share / elapsed;
    if (images_now <= 0 || images_average <= 0) return demand;
    const double age = DecayAge(images_now / images_average);
    if (age <= 0) return demand;
    const double time_constant = elapsed / age;
    demand.unseen =
        (pace.steady - images_now) * left + images_now * time_constant * -std::expm1(-left / time_constant);
    return demand;
}

Bytes SizeFor(const Demand& demand, const ServerSettings& server) noexcept {
    return SizeForDistance(demand.seen * kMeasuredHeadroom + demand.unseen * kProjectedHeadroom, server);
}

Need PresentNeed(const Tracker& tracker, const Journal& journal) noexcept {
    Need need;
    const ServerSettings& server = tracker.latest().server;
    const Micros timeout = server.checkpoint_timeout;
    LatelyPeak lately;
    lately.Add(tracker.open_window());
    const std::uint32_t recent = std::min(journal.windows.size(), kRecentWindows);
    for (std::uint32_t age = 0; age < recent; ++age)
        if (SameTimeout(journal.windows.Newest(age), timeout)) lately.Add(journal.windows.Newest(age));
    if (lately.clean >= 0 || lately.inflated >= 0) {
        const bool measured = lately.clean >= lately.inflated;
        need.basis = measured ? NeedBasis::kMeasured : NeedBasis::kUpperBound;
        need.bytes = static_cast<double>(std::max(lately.clean, lately.inflated));
        need.size = SizeFor({need.bytes, 0}, server);
        need.sound = measured;
        return need;
    }
    const Stretch stretch = tracker.stretch();
    const CycleSoFar so_far = {static_cast<Bytes>(stretch.bytes), stretch.watched, tracker.OpenCycleFpi()};
    const Demand demand = Project(so_far, timeout - stretch.watched, tracker.pace());
    need.bytes = std::min(demand.seen + demand.unseen, static_cast<double>(kLargestMaxWalSize));
    need.size = SizeFor(demand, server);
    need.sound = stretch.watched * kSoundShare >= timeout;
    return need;
}

}  // namespace walsizer
