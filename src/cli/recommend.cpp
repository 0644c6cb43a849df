#include "cli/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

RecoveryModel ModelOf(const ServerAdvice& advice, const CeilingOptions& options) {
    RecoveryModel model = ModelRecovery(RecoverySamples(), options.replay_rate.value_or(0), 0);
    if (!options.replay_rate && advice.replay_rate > 0) {
        model.rate = advice.replay_rate;
        model.source = ReplayRateSource::kMeasured;
    }
    return model;
}

std::string LimitsInWords(const LimitFacts& facts, const Ceiling& ceiling, const CeilingOptions& options) {
    std::string text;
    if (options.max_recovery_time > 0)
        text = fmt::format(
            "Recovery ceiling {}: {} of crash recovery at {}/s ({}). ",
            SizeForPeople(static_cast<double>(facts.recovery.SizeWithin(options.max_recovery_time))),
            TimeSetting(options.max_recovery_time), SizeForPeople(facts.recovery.rate),
            Name(facts.recovery.source));
    if (facts.volume.known)
        text += fmt::format("Disk ceiling {}: {} free, {} of it reserved{}. ",
                            SizeForPeople(static_cast<double>(DiskCeiling(facts))),
                            SizeForPeople(static_cast<double>(facts.volume.free)),
                            SizeForPeople(static_cast<double>(DiskReserve(facts.settings, facts.volume))),
                            options.disk_free ? "" : ", if pg_wal is alone on its volume");
    else
        text += "Disk ceiling unknown: --disk-free and --wal-volume tell it. ";
    if (options.max && ceiling.governs == Limit::kMax)
        text += fmt::format("Ceiling by --max: {}. ", SizeSetting(*options.max));
    text.pop_back();
    return text;
}

// Too little was watched to size by: one step, and the next log tells more. At least PostgreSQL's default,
// so that a tiny setting does not take many rounds.
Bytes FirstStep(const ServerSettings& server) {
    return RoundUpToSegments(static_cast<double>(std::max<Bytes>(2 * server.max_wal_size, kGiB)), server);
}

class Judgement {
  public:
    Judgement(ServerAdvice& advice, const Evidence& evidence, const CeilingOptions& options)
        : advice_(advice),
          evidence_(evidence),
          result_(advice.recommendation),
          server_(advice.settings.ForEngine()),
          facts_(LimitsOf(advice, evidence, options)),
          ceiling_(PresentCeiling(facts_)) {
        result_.limits = LimitsInWords(facts_, ceiling_, options);
        Decide();
        if (ceiling_.size <= server_.max_wal_size) result_.limited_by = Name(ceiling_.governs);
        if (result_.action == Action::kRaise) result_.lines = LinesFor(evidence.places, result_.size);
    }

  private:
    // Two in one checkpoint_timeout, or more than a tenth of all: the extension's own rules.
    bool Pressed() const {
        if (evidence_.in_sight) return true;
        if (evidence_.forced == 0) return false;
        const TunerSettings defaults;
        return evidence_.forced_close >= defaults.threshold ||
               static_cast<double>(evidence_.forced) >
                   defaults.target_ratio * static_cast<double>(evidence_.effective);
    }

    void Keep(std::string reason) {
        result_.action = Action::kKeep;
        result_.size = server_.max_wal_size;
        result_.reason = std::move(reason);
    }

    void Decide() {
        if (!Pressed()) return Keep(WhyNotPressed());
        if (!result_.need_known) {
            Raise(FirstStep(server_), "");
            return;
        }
        const Need& need = result_.need;
        if (need.size <= server_.max_wal_size)
            return Keep(
                fmt::format("{} would do for the WAL that was seen; what forced {} checkpoints was "
                            "smaller than the present value allows.",
                            SizeSetting(need.size), evidence_.forced));
        if (need.basis == NeedBasis::kProjected && !need.sound) {
            const Bytes step = std::min(FirstStep(server_), need.size);
            return Raise(
                step,
                fmt::format("A first step: {} of WAL were seen, too short to size by. At that pace "
                            "one checkpoint_timeout ({}) would need up to {}; let it run with {} "
                            "and look again.",
                            TimeForPeople(advice_.span.watched), TimeSetting(server_.checkpoint_timeout),
                            SizeSetting(need.size), SizeSetting(step)));
        }
        Raise(need.size, BasisInWords(need));
    }

    std::string BasisInWords(const Need& need) const {
        const std::string wal = SizeForPeople(need.bytes);
        const std::string timeout = TimeSetting(server_.checkpoint_timeout);
        switch (need.basis) {
            case NeedBasis::kMeasured:
                return fmt::format("{} of WAL were measured in one checkpoint_timeout ({}).", wal, timeout);
            case NeedBasis::kUpperBound:
                return fmt::format(
                    "Up to {} of WAL fell into one checkpoint_timeout ({}). That is an upper "
                    "bound: frequent checkpoints inflate WAL with full-page images. Half of "
                    "it may do; raise in steps and look again.",
                    wal, timeout);
            case NeedBasis::kProjected:
                return fmt::format(
                    "{} of WAL are projected for one checkpoint_timeout ({}), of which {} "
                    "were watched. That is an upper bound: frequent checkpoints inflate WAL "
                    "with full-page images. Raise in steps and look again.",
                    wal, timeout, TimeForPeople(advice_.span.watched));
        }
        return {};
    }

    std::string WhyNotPressed() const {
        if (evidence_.effective == 0)
            return advice_.standby ? "Restartpoints only: this is a standby, and its pace is the primary's. "
                                     "Judge the primary's log."
                                   : "No checkpoint was seen that WAL volume forced.";
        std::string text = evidence_.forced == 0
                               ? "No checkpoint was forced by WAL volume at the present setting."
                               : fmt::format(
                                     "{} of {} checkpoints were forced by WAL volume: a tenth is "
                                     "acceptable.",
                                     evidence_.forced, evidence_.effective);
        if (result_.need_known && evidence_.forced == 0)
            text += fmt::format(" {} of WAL in one checkpoint_timeout ({}) need {}.",
                                SizeForPeople(result_.need.bytes), TimeSetting(server_.checkpoint_timeout),
                                SizeSetting(result_.need.size));
        return text;
    }

    void Raise(Bytes wanted, std::string reason) {
        const Bytes size = std::min(wanted, ceiling_.size);
        result_.reason = std::move(reason);
        if (size < wanted) result_.limited_by = Name(ceiling_.governs);
        if (size <= server_.max_wal_size) {
            result_.action = Action::kKeep;
            result_.size = server_.max_wal_size;
            result_.reason += fmt::format(" But the {} ceiling of {} allows no more.", result_.limited_by,
                                          SizeSetting(ceiling_.size));
            return;
        }
        result_.action = Action::kRaise;
        result_.size = size;
        if (size < wanted)
            result_.reason += fmt::format(" {} were wanted; the {} ceiling allows {}.", SizeSetting(wanted),
                                          result_.limited_by, SizeSetting(size));
    }

    ServerAdvice& advice_;
    const Evidence& evidence_;
    Recommendation& result_;
    ServerSettings server_;
    LimitFacts facts_;
    Ceiling ceiling_;
};

}  // namespace

VolumeFacts VolumeOf(const Evidence& evidence, const CeilingOptions& options) {
    VolumeFacts volume;
    if (!options.disk_free && !options.wal_volume) return volume;
    volume.known = true;
    volume.wal_dir_size = evidence.wal_dir_size;
    volume.held = evidence.held;
    const Bytes rest = options.wal_volume.value_or(0) - evidence.wal_dir_size;
    volume.free = options.disk_free.value_or(std::max<Bytes>(rest, 0));
    // A volume is at least as large as what is free on it.
    volume.size = std::max(options.wal_volume.value_or(0), volume.free);
    return volume;
}

LimitFacts LimitsOf(const ServerAdvice& advice, const Evidence& evidence, const CeilingOptions& options) {
    LimitFacts facts;
    facts.server = advice.settings.ForEngine();
    facts.present_size = facts.server.max_wal_size;
    facts.settings.max = options.max.value_or(kLargestMaxWalSize);
    facts.settings.max_recovery_time = options.max_recovery_time;
    facts.recovery = ModelOf(advice, options);
    facts.volume = VolumeOf(evidence, options);
    return facts;
}

void Recommend(ServerAdvice& advice, const Evidence& evidence, const CeilingOptions& options) {
    Judgement(advice, evidence, options);
}

}  // namespace walsizer::cli
