#include "walsizer/limits.hpp"

#include <algorithm>

namespace walsizer {

namespace {

// max_wal_size is a soft limit: a checkpoint that runs late, or two cycles kept at once, overshoot it.
constexpr double kSoftLimit = 1.5;
// The automatic reserve: a fifth of the volume, within bounds that make sense for small and for large ones.
constexpr int kReserveShare = 5;
constexpr Bytes kSmallestReserve = kGiB;
constexpr Bytes kLargestReserve = 20 * kGiB;

void Lower(Ceiling& ceiling, Bytes size, Limit limit) noexcept {
    if (size >= ceiling.size) return;
    ceiling = {size, limit, false};
}

}  // namespace

Bytes DiskReserve(const TunerSettings& settings, const VolumeFacts& volume) noexcept {
    if (settings.disk_reserve >= 0) return settings.disk_reserve;
    return std::clamp(volume.size / kReserveShare, kSmallestReserve, kLargestReserve);
}

Bytes DiskCeiling(const LimitFacts& facts) noexcept {
    if (!facts.volume.known || facts.settings.disk_reserve == 0) return kLargestMaxWalSize;
    // Old segments that nobody holds are about to be recycled: they are in the way for a second after a
    // checkpoint.
    const Bytes held = facts.volume.held.holder == Holder::kNone ? Bytes{0} : facts.volume.held.bytes;
    const Bytes usable =
        facts.volume.free - DiskReserve(facts.settings, facts.volume) + facts.volume.wal_dir_size - held;
    return static_cast<Bytes>(static_cast<double>(std::max<Bytes>(usable, 0)) / kSoftLimit);
}

Ceiling PresentCeiling(const LimitFacts& facts) noexcept {
    Ceiling ceiling = {kLargestMaxWalSize, Limit::kMax, false};
    Lower(ceiling, facts.settings.max, Limit::kMax);
    Lower(ceiling, DiskCeiling(facts), Limit::kDisk);
    if (facts.settings.max_recovery_time > 0)
        Lower(ceiling, facts.recovery.SizeWithin(facts.settings.max_recovery_time), Limit::kRecoveryTime);
    if (facts.holder_grows && facts.settings.disk_reserve != 0 && facts.present_size < ceiling.size)
        ceiling = {facts.present_size, Limit::kDisk, true};
    ceiling.size =
        std::max(RoundDownToSegments(ceiling.size, facts.server), SmallestMaxWalSize(facts.server));
    return ceiling;
}

Text<256> Describe(const Ceiling& ceiling, const LimitFacts& facts) noexcept {
    Text<256> text;
    if (ceiling.frozen)
        return text.Set("%s holds %s of WAL on pg_wal's volume (%s free) and keeps growing",
                        facts.volume.held.name.c_str(), SizeText(facts.volume.held.bytes).c_str(),
                        SizeText(facts.volume.free).c_str());
    switch (ceiling.governs) {
        case Limit::kMax:
            return text.Set("the max ceiling governs (walsizer.max is %s)",
                            SizeText(facts.settings.max).c_str());
        case Limit::kDisk:
            text.Set("the disk ceiling of %s governs (pg_wal's volume has %s free, %s of it reserved",
                     SizeText(ceiling.size).c_str(), SizeText(facts.volume.free).c_str(),
                     SizeText(DiskReserve(facts.settings, facts.volume)).c_str());
            if (facts.volume.held.bytes > 0 && !facts.volume.held.name.empty())
                text.Append("; %s holds %s", facts.volume.held.name.c_str(),
                            SizeText(facts.volume.held.bytes).c_str());
            return text.Append(")");
        case Limit::kRecoveryTime:
            text.Set("the recovery_time ceiling of %s governs (max_recovery_time is %s, replay at %s/s %s",
                     SizeText(ceiling.size).c_str(), DurationText(facts.settings.max_recovery_time).c_str(),
                     SizeText(static_cast<Bytes>(facts.recovery.rate)).c_str(), Name(facts.recovery.source));
            if (facts.recovery.margin > 1)
                text.Append(", %.0f %% more time for the worst case", (facts.recovery.margin - 1) * 100);
            return text.Append(")");
    }
    return text;
}

Text<256> Remedy(const Ceiling& ceiling, const LimitFacts& facts) noexcept {
    Text<256> text;
    if (ceiling.frozen) {
        if (facts.volume.held.holder == Holder::kSlot)
            return text.Set(
                "Let the slot's consumer catch up, drop the slot, or bound it with max_slot_wal_keep_size.");
        if (facts.volume.held.holder == Holder::kArchiver)
            return text.Set("Mend archive_command; the server log and pg_stat_archiver tell why it fails.");
        return text.Set("Find out why the WAL summarizer lags; the server log tells.");
    }
    switch (ceiling.governs) {
        case Limit::kMax:
            return text.Set("Raise walsizer.max if the WAL volume and the recovery time allow it.");
        case Limit::kDisk:
            return text.Set("Free space on pg_wal's volume, enlarge it, or lower walsizer.disk_reserve.");
        case Limit::kRecoveryTime:
            return text.Set(
                "Raise walsizer.max_recovery_time if a longer restart after a crash is acceptable.");
    }
    return text;
}

}  // namespace walsizer
