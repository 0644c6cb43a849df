#include <nlohmann/json.hpp>

#include "cli/print_advice.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

using Json = nlohmann::ordered_json;

Json Seconds(Micros time) {
    if (time < 0) return nullptr;
    return static_cast<double>(time) / kSecond;
}

Json When(const std::optional<Instant>& instant) {
    if (!instant) return nullptr;
    return Print(*instant);
}

template <typename Value>
Json Setting(const Sourced<Value>& setting, Json value) {
    Json json = {{"value", std::move(value)}, {"source", Name(setting.origin)}};
    if (!setting.note.empty()) json["note"] = setting.note;
    return json;
}

Json Settings(const SettingsInForce& settings) {
    const auto& timeout = settings.checkpoint_timeout;
    return {{"max_wal_size", Setting(settings.max_wal_size, settings.max_wal_size.value)},
            {"checkpoint_timeout", Setting(timeout, Seconds(timeout.value))},
            {"checkpoint_completion_target",
             Setting(settings.completion_target, settings.completion_target.value)},
            {"wal_segment_size", Setting(settings.segment_size, settings.segment_size.value)},
            {"trigger_size", TriggerSize(settings.max_wal_size.value, settings.ForEngine())}};
}

Json Checkpoints(const CauseCounts& counts) {
    Json json;
    for (std::size_t i = 0; i < kCauses; ++i) json[Name(static_cast<Cause>(i))] = counts.of[i];
    json["stale"] = counts.stale;
    json["total"] = counts.total();
    return json;
}

Json Recommended(const Recommendation& recommendation) {
    Json json = {{"action", Name(recommendation.action)},
                 {"max_wal_size", recommendation.size},
                 {"setting", SizeSetting(recommendation.size)}};
    if (recommendation.need_known) {
        json["need"] = recommendation.need.size;
        json["wal_per_checkpoint_timeout"] = static_cast<std::int64_t>(recommendation.need.bytes);
        json["basis"] = Name(recommendation.need.basis);
    } else {
        json["need"] = json["wal_per_checkpoint_timeout"] = json["basis"] = nullptr;
    }
    json["limited_by"] = recommendation.limited_by.empty() ? Json(nullptr) : Json(recommendation.limited_by);
    json["reason"] = recommendation.reason;
    json["limits"] = recommendation.limits;
    json["lines"] = Json::array();
    for (const ConfigLine& line : recommendation.lines)
        json["lines"].push_back({{"place", line.place}, {"line", line.line}});
    return json;
}

Json Findings(const ServerAdvice& server) {
    Json json = Json::array();
    for (const Finding& finding : server.findings)
        json.push_back({{"code", finding.code},
                        {"severity", Name(finding.severity)},
                        {"message", finding.message},
                        {"hint", finding.hint}});
    return json;
}

Json WhatIfRows(const WhatIfTable& table) {
    Json json = Json::array();
    for (const WhatIfSize& row : table.sizes)
        json.push_back({{"max_wal_size", row.max_wal_size},
                        {"trigger_size", row.trigger_size},
                        {"timed_per_hour", row.timed_per_hour},
                        {"forced_per_hour", row.forced_per_hour},
                        {"forced_ratio", row.forced_ratio < 0 ? Json(nullptr) : Json(row.forced_ratio)},
                        {"wal_per_hour", row.wal_per_hour},
                        {"is_bound", row.is_bound},
                        {"recovery_estimate", Seconds(row.recovery_estimate)},
                        {"fits_disk", row.fits_disk ? Json(*row.fits_disk) : Json(nullptr)},
                        {"fits_recovery_time", row.fits_recovery_time},
                        {"note", row.note}});
    return json;
}

void AddServer(Json& json, const ServerAdvice& server) {
    json["standby"] = server.standby;
    json["from"] = When(server.span.from);
    json["to"] = When(server.span.to);
    json["watched_seconds"] = Seconds(server.span.watched);
    json["timeouts_watched"] =
        server.span.watched / std::max<Micros>(server.settings.checkpoint_timeout.value, 1);
    json["settings"] = Settings(server.settings);
    json["wal_bytes"] = server.wal_bytes;
    json["shortest_forced_interval_seconds"] = Seconds(server.shortest_interval);
    json["longest_forced_interval_seconds"] = Seconds(server.longest_interval);
    json["replay_rate"] = server.replay_rate > 0 ? Json(server.replay_rate) : Json(nullptr);
    json["recommendation"] = Recommended(server.recommendation);
    json["what_if"] = WhatIfRows(server.what_if);
    json["what_if_note"] = server.what_if.note;
    json["findings"] = Findings(server);
}

}  // namespace

std::string AdviceAsJson(const Advice& advice) {
    Json json = {{"source", advice.source}};
    json["checkpoints"] = Checkpoints(advice.Checkpoints());
    AddServer(json, advice.Foremost());
    if (advice.from_log) {
        json["lines"] = advice.lines;
        json["unparsed"] = advice.unparsed;
        json["duplicates"] = advice.duplicates;
    }
    json["notes"] = advice.notes;
    if (advice.servers.size() > 1) {
        json["servers"] = Json::array();
        for (const ServerAdvice& server : advice.servers) {
            Json one = {{"name", server.name}, {"checkpoints", Checkpoints(server.checkpoints)}};
            AddServer(one, server);
            json["servers"].push_back(std::move(one));
        }
    }
    // What is no UTF-8 in a file's or server's name must not end the program.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace walsizer::cli
