#include "cli/server/advise_server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/quantity.hpp"
#include "cli/recommend.hpp"
#include "cli/server/local_time.hpp"
#include "cli/server/neighbours.hpp"
#include "cli/server/server_traces.hpp"
#include "cli/what_if.hpp"
#include "walsizer/sizing.hpp"

namespace walsizer::cli {

namespace {

SettingsInForce SettingsOf(const Observation& seen, const ServerTraces& traces) {
    SettingsInForce settings;
    settings.max_wal_size = {seen.server.max_wal_size, Origin::kServer, SourceInWords(traces)};
    settings.checkpoint_timeout = {seen.server.checkpoint_timeout, Origin::kServer};
    settings.completion_target = {seen.server.completion_target, Origin::kServer};
    settings.segment_size = {seen.server.segment_size, Origin::kServer};
    return settings;
}

void Count(const CycleFeed& feed, ServerAdvice& advice) {
    advice.checkpoints = feed.Counts();
    advice.history = feed.Checkpoints();
    for (Checkpoint& checkpoint : advice.history) {
        if (checkpoint.started) checkpoint.started = LocalInstant(checkpoint.started->at);
        if (checkpoint.cause != Cause::kWal || checkpoint.interval < 0) continue;
        Micros& shortest = advice.shortest_interval;
        shortest = shortest < 0 ? checkpoint.interval : std::min(shortest, checkpoint.interval);
        advice.longest_interval = std::max(advice.longest_interval, checkpoint.interval);
    }
}

// The most checkpoints forced by WAL within one checkpoint_timeout.
std::int64_t MostForcedWithin(const std::vector<Checkpoint>& history, Micros timeout) {
    std::int64_t most = 0;
    std::vector<Timestamp> forced;
    for (const Checkpoint& checkpoint : history)
        if (checkpoint.cause == Cause::kWal && !checkpoint.stale && checkpoint.started)
            forced.push_back(checkpoint.started->at);
    for (std::size_t first = 0, last = 0; last < forced.size(); ++last) {
        while (forced[last] - forced[first] > timeout) ++first;
        most = std::max(most, static_cast<std::int64_t>(last - first + 1));
    }
    return most;
}

// The need while a checkpoint that WAL forces may just not have come yet.
bool ForcedInSight(const Need& need, const ServerSettings& server) {
    const auto trigger = static_cast<double>(TriggerSize(server.max_wal_size, server));
    return need.sound && need.size > server.max_wal_size && need.bytes > trigger;
}

void NotApplicable(ServerAdvice& advice, const std::string& storage) {
    advice.recommendation.action = Action::kNotApplicable;
    advice.recommendation.size = advice.settings.max_wal_size.value;
    advice.recommendation.reason = fmt::format(
        "The storage of {} replays WAL by itself: no checkpoint writes pages there, whatever max_wal_size "
        "says.",
        storage);
}

std::string WhyImagesUnknown(const Sight& sight, const Observation& seen) {
    if (seen.in_recovery) return "a standby's statistics do not tell full-page images of its primary";
    if (!sight.wal_statistics)
        return "this server does not tell full-page images (pg_stat_wal, 14 and later)";
    if (!sight.redo)
        return "redo points are not visible to this role, and with them how full-page images fade";
    return "no whole cycle was seen that shows how full-page images fade";
}

WhatIfTable WhatIfOf(const CycleFeed& feed, const Sight& sight, const LimitFacts& limits,
                     const ServerAdvice& advice) {
    return ReplayAtOtherSizes(
        {feed.journal().buckets, feed.tracker().images().Fit(), WhyImagesUnknown(sight, feed.latest()), ""},
        limits, advice);
}

std::string WatchedTooShort(const ServerAdvice& advice) {
    const Micros timeout = advice.settings.checkpoint_timeout.value;
    if (advice.span.watched >= timeout) return {};
    return fmt::format(
        "Watched for less than one checkpoint_timeout ({}): a load that comes later was not seen. --for {} "
        "shows "
        "two of them.",
        TimeSetting(timeout), TimeSetting(2 * timeout));
}

}  // namespace

Advice AdviseServer(Connection& connection, const WatchOptions& watch, const CeilingOptions& ceilings) {
    const Sight sight = FindSight(connection);
    const ServerTraces traces = FindTraces(connection);
    const Service service = ServiceOf(traces);

    Advice result;
    const int version = connection.version();
    result.source = fmt::format("{}, PostgreSQL {}.{}", connection.Where(), version / 10000, version % 10000);
    if (service != Service::kSelfManaged) result.source += fmt::format(", {}", Name(service));
    ServerAdvice& advice = result.servers.emplace_back();
    if (!traces.own_storage.empty()) {
        advice.settings = SettingsOf(Look(connection, sight).seen, traces);
        NotApplicable(advice, traces.own_storage);
        return result;
    }

    CycleFeed feed;
    WatchResult watched = WatchServer(connection, sight, watch, feed);
    const Observation& latest = feed.latest();
    advice.standby = latest.in_recovery;
    advice.span = {LocalInstant(feed.first().wall), LocalInstant(latest.wall), feed.watched()};
    advice.settings = SettingsOf(latest, traces);
    advice.wal_bytes = feed.wal_bytes();
    Count(feed, advice);

    Recommendation& recommendation = advice.recommendation;
    recommendation.need = PresentNeed(feed.tracker(), feed.journal());
    recommendation.need_known = feed.watched() > 0 && feed.wal_bytes() > 0;
    // Where redo points are invisible, frequent checkpoints may have inflated what was measured.
    if (!sight.redo && recommendation.need.basis == NeedBasis::kMeasured)
        recommendation.need.basis = NeedBasis::kUpperBound;

    Evidence evidence;
    evidence.forced = feed.forced_at_present();
    evidence.forced_close =
        std::min(MostForcedWithin(advice.history, latest.server.checkpoint_timeout), evidence.forced);
    const CauseCounts& counts = advice.checkpoints;
    evidence.effective = counts[Cause::kWal] + counts[Cause::kTime] + counts[Cause::kRequest];
    evidence.in_sight = recommendation.need_known && ForcedInSight(recommendation.need, latest.server);
    evidence.wal_dir_size = WalDirectorySize(connection, sight);
    evidence.held = FindHeldWal(connection);
    evidence.places = PlacesOf(traces);
    Recommend(advice, evidence, ceilings);
    advice.what_if = WhatIfOf(feed, sight, LimitsOf(advice, evidence, ceilings), advice);
    advice.findings = AdviseNeighbours(connection, traces, feed, advice, VolumeOf(evidence, ceilings));

    for (std::string& note : watched.notes) result.notes.push_back(std::move(note));
    if (watched.interrupted)
        result.notes.push_back(fmt::format("Interrupted after {} of {}.", TimeForPeople(feed.watched()),
                                           TimeForPeople(watch.duration)));
    if (std::string note = WatchedTooShort(advice); !note.empty()) result.notes.push_back(std::move(note));
    for (const std::string& missing : sight.missing) result.notes.push_back(missing);
    return result;
}

}  // namespace walsizer::cli
