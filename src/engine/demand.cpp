#include "walsizer/demand.hpp"

#include <algorithm>

namespace walsizer {

void DemandMeter::Look(Micros now, Lsn position, Micros timeout) noexcept {
    latest_ = {now, position};
    if (count_ == 0 || now - points_[(count_ - 1) % kPoints].at >= timeout / 60) {
        points_[count_ % kPoints] = latest_;
        ++count_;
    }
}

Stretch DemandMeter::Latest(Micros timeout) const noexcept {
    Stretch stretch;
    if (count_ == 0) return stretch;
    const Micros start = latest_.at - timeout;
    const unsigned kept = std::min(count_, kPoints);

    // Walk back to the first point at or before the stretch's start, then interpolate to it.
    Point after = latest_;
    for (unsigned age = 0; age < kept; ++age) {
        const Point& point = points_[(count_ - 1 - age) % kPoints];
        if (point.at <= start) {
            const double gap = static_cast<double>(after.at - point.at);
            const double part = gap > 0 ? static_cast<double>(after.at - start) / gap : 0;
            stretch.bytes = static_cast<double>(latest_.position - after.position) +
                            part * static_cast<double>(after.position - point.position);
            stretch.complete = true;
            stretch.clean = start >= clean_from_;
            stretch.watched = timeout;
            return stretch;
        }
        after = point;
    }
    stretch.bytes = static_cast<double>(latest_.position - after.position);
    stretch.watched = latest_.at - after.at;
    stretch.clean = after.at >= clean_from_;
    return stretch;
}

}  // namespace walsizer
