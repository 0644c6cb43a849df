#include "walsizer/first_touch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace walsizer {

namespace {

constexpr double kFirstBin = 64 * kKiB;
// Cycles that speak for a bin: the load of the last hour or two, not of last week.
constexpr float kMemory = 20;
// Within this factor of the fastest lately a point counts in full: images alone make as much difference.
constexpr double kBusy = 4;
// And what no cycle confirms any more is forgotten within hours: this part with each timeout.
constexpr double kForgotten = 0.02;
// What a group of stretches adds fades by this with each further group.
constexpr double kFade = 0.98;
// A record's header alone (xlogrecord.h: SizeOfXLogRecord).
constexpr double kSmallestRecord = 24;
// Images per record have to vary by this much (squared, relative) before a slope means anything.
constexpr double kVariation = 0.002;
constexpr double kSmallestScale = 0.02;
// A page without a hole, and the image's header.
constexpr double kLargestScale = 1.005;
// Squared correlation of images and WAL per record within a group of one and the same load.
constexpr double kOnALine = 0.95;

}  // namespace

double FirstTouchCurve::Images(double records) const noexcept {
    double images = 0;
    for (const Set& set : sets)
        if (set.records > 0) images += set.images * -std::expm1(-records / set.records);
    return images;
}

FirstTouchCurve FirstTouchCurve::AtMost() const noexcept {
    FirstTouchCurve most = *this;
    for (Set& set : most.sets) set = Set();
    const double seen = longest / 2;
    if (!known || !(seen > 0)) return most;
    constexpr double without_end = 1e6;
    most.sets[0] = {without_end * Images(seen), without_end * seen};
    return most;
}

unsigned ImageProfile::BinOf(double written) noexcept {
    if (!(written > kFirstBin)) return 0;
    return std::min(static_cast<unsigned>(2 * std::log2(written / kFirstBin)), kBins - 1);
}

void ImageProfile::AddPoint(const SinceRedo& since, double seconds) noexcept {
    if (!(since.records >= 1) || !(since.reported > 0) || !(since.written >= kFirstBin)) return;
    if (!(seconds > 0)) return;
    const double rate = since.written / seconds;
    fastest_ = std::max(fastest_, rate);
    const auto counts = static_cast<float>(std::min(kBusy * rate / fastest_, 1.0));
    Bin& bin = bins_[BinOf(since.written)];
    bin.weight = std::min(bin.weight + counts, kMemory);
    const auto move = [&](float& mean, double value) {
        mean += (static_cast<float>(value) - mean) * (counts / bin.weight);
    };
    move(bin.records, since.records);
    move(bin.images, since.images);
    move(bin.reported, since.reported);
    move(bin.written, since.written);
}

void ImageProfile::Fade(double timeouts) noexcept {
    const auto left = static_cast<float>(1 - kForgotten * std::clamp(timeouts, 0.0, 1.0));
    for (Bin& bin : bins_) bin.weight *= left;
    fastest_ *= static_cast<double>(left);
}

void ImageProfile::AddStretch(const SinceRedo& stretch) noexcept {
    if (!(stretch.records >= 1) || !(stretch.reported > 0)) return;
    open_.records += stretch.records;
    open_.images += stretch.images;
    open_.reported += stretch.reported;
    open_.written += stretch.written;
    open_.images_squared += stretch.images * stretch.images / stretch.records;
    open_.images_reported += stretch.images * stretch.reported / stretch.records;
    open_.reported_squared += stretch.reported * stretch.reported / stretch.records;
    if (++open_.stretches >= kGroup) Fold();
}

void ImageProfile::Mend() noexcept {
    const auto sane = [](double value) { return value >= 0 && value < 1e30; };
    const auto sane_group = [&](const Group& group) {
        return sane(group.records) && sane(group.images) && sane(group.reported) && sane(group.written) &&
               sane(group.images_squared) && sane(group.images_reported) && sane(group.reported_squared) &&
               group.stretches >= 0;
    };
    bool all = sane_group(open_) && sane_group(total_) && sane(variance_) && sane(fastest_) &&
               std::abs(covariance_) < 1e30;
    for (const Bin& bin : bins_)
        all = all && sane(bin.weight) && sane(bin.records) && sane(bin.images) && sane(bin.reported) &&
              sane(bin.written) && (bin.weight == 0 || (bin.records > 0 && bin.reported > 0));
    if (!all) *this = ImageProfile();
}

void ImageProfile::Fold() noexcept {
    const auto add = [](double& sum, double value) { sum = sum * kFade + value; };
    const double variance = open_.images_squared - open_.images * open_.images / open_.records;
    const double covariance = open_.images_reported - open_.images * open_.reported / open_.records;
    const double spread = open_.reported_squared - open_.reported * open_.reported / open_.records;
    if (covariance > 0 && covariance * covariance > kOnALine * variance * spread) {
        add(variance_, variance);
        add(covariance_, covariance);
    }
    add(total_.records, open_.records);
    add(total_.images, open_.images);
    add(total_.reported, open_.reported);
    add(total_.written, open_.written);
    total_.stretches = std::min(total_.stretches + open_.stretches, 1 << 20);
    open_ = Group();
}

double ImageProfile::ImageScale() const noexcept {
    const double records = total_.records + open_.records;
    const double images = total_.images + open_.images;
    const double reported = total_.reported + open_.reported;
    if (!(images > 0)) return 1;
    const double most = std::min((reported - kSmallestRecord * records) / images, kLargestScale);
    double scale = most;
    if (variance_ > kVariation * total_.images * total_.images / std::max(total_.records, 1.0))
        scale = std::min(covariance_ / variance_, most);
    return std::max(scale, kSmallestScale);
}

FirstTouchCurve ImageProfile::Fit() const noexcept {
    FirstTouchCurve curve;
    const double records = total_.records + open_.records;
    const double reported = total_.reported + open_.reported;
    const double images = total_.images + open_.images;
    if (!(records > 0) || !(reported > 0)) return curve;
    curve.image_scale = ImageScale();
    curve.overhead = std::clamp((total_.written + open_.written) / reported, 1.0, 1.1);
    curve.bytes_per_record = std::max((reported - curve.image_scale * images) / records, kSmallestRecord);

    CurvePoint points[kBins];
    unsigned count = 0;
    for (const Bin& bin : bins_) {
        if (!(bin.weight > 0)) continue;
        // By position, minus what is no image: reports lag, and what they lag by is mostly images.
        const double share = std::min(curve.image_scale * bin.images / bin.reported, 1.0);
        const double late = bin.written / curve.overhead - bin.reported;
        const double value = bin.images + late * share / curve.image_scale;
        if (!(value > 0)) continue;
        points[count++] = {bin.records, value, bin.weight};
        curve.longest = std::max<double>(curve.longest, bin.records);
    }
    curve.known = count > 0 || images <= 0;
    FitCurve(points, count, curve.sets);
    return curve;
}

}  // namespace walsizer
