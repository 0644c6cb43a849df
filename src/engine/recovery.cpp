#include "walsizer/recovery.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// What is assumed of hardware that showed nothing yet.
constexpr double kAssumedRate = 64.0 * kMiB;
// Below this a recovery is all fixed part and rounding.
constexpr Bytes kSmallestSample = 32 * kMiB;
constexpr Micros kShortestSample = 10 * kMillisecond;
// Two recoveries tell fixed part from rate only when their sizes differ clearly.
constexpr double kDistinct = 1.25;

double Median(double* values, std::uint32_t count) noexcept {
    std::sort(values, values + count);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double Seconds(const RecoverySample& sample) noexcept {
    return static_cast<double>(sample.time) / kSecond;
}

}  // namespace

void RecoverySamples::Add(const RecoverySample& sample) noexcept {
    if (sample.bytes < kSmallestSample || sample.time < kShortestSample) return;
    count = std::min(count, kKept);
    for (std::uint32_t i = kKept - 1; i > 0; --i) samples[i] = samples[i - 1];
    samples[0] = sample;
    count = std::min(count + 1, kKept);
}

const char* Name(ReplayRateSource source) noexcept {
    switch (source) {
        case ReplayRateSource::kMeasured:
            return "measured";
        case ReplayRateSource::kConfigured:
            return "configured";
        case ReplayRateSource::kAssumed:
            return "assumed";
    }
    return "unknown";
}

Micros RecoveryModel::Estimate(Bytes max_wal_size) const noexcept {
    const double seconds = fixed_seconds + static_cast<double>(max_wal_size) / std::max(rate, 1.0);
    return static_cast<Micros>(std::min(seconds * margin, 1e9) * kSecond);
}

Bytes RecoveryModel::SizeWithin(Micros limit) const noexcept {
    const double seconds = static_cast<double>(limit) / kSecond / margin - fixed_seconds;
    return static_cast<Bytes>(std::clamp(seconds * rate, 0.0, static_cast<double>(kLargestMaxWalSize)));
}

// Medians of pairs (Theil and Sen): one recovery on a cold cache must not bend the line for good.
RecoveryModel ModelRecovery(const RecoverySamples& samples, double configured, double seen) noexcept {
    RecoveryModel model;
    if (configured > 0) {
        model.rate = configured;
        model.source = ReplayRateSource::kConfigured;
        return model;
    }
    const std::uint32_t count = std::min(samples.count, RecoverySamples::kKept);
    if (count == 0) {
        model.rate = std::max(kAssumedRate, seen);
        return model;
    }
    model.source = ReplayRateSource::kMeasured;
    model.margin = kMeasuredMargin;
    double values[RecoverySamples::kKept * RecoverySamples::kKept];
    std::uint32_t used = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t j = 0; j < count; ++j) {
            const double small = static_cast<double>(samples.samples[i].bytes);
            const double large = static_cast<double>(samples.samples[j].bytes);
            if (large < small * kDistinct) continue;
            values[used++] = (Seconds(samples.samples[j]) - Seconds(samples.samples[i])) / (large - small);
        }
    }
    double slope = used > 0 ? Median(values, used) : 0;  // seconds per byte
    if (slope > 0) {
        for (std::uint32_t i = 0; i < count; ++i)
            values[i] = Seconds(samples.samples[i]) - slope * static_cast<double>(samples.samples[i].bytes);
        model.fixed_seconds = std::max(Median(values, count), 0.0);
    } else {  // nothing to tell them apart: all of the time counts as replay, the safe side
        for (std::uint32_t i = 0; i < count; ++i)
            values[i] = Seconds(samples.samples[i]) / static_cast<double>(samples.samples[i].bytes);
        slope = Median(values, count);
    }
    model.rate = 1 / slope;
    return model;
}

}  // namespace walsizer
