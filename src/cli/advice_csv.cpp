#include <fmt/format.h>

#include <cstdio>

#include "cli/print_advice.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

std::string Seconds(Micros time) {
    return time < 0 ? std::string() : fmt::format("{:.3f}", static_cast<double>(time) / kSecond);
}

std::string When(const std::optional<Instant>& instant) {
    return instant ? Print(*instant) : std::string();
}

std::string Row(const Advice& advice, const ServerAdvice& server) {
    const SettingsInForce& settings = server.settings;
    const Recommendation& recommendation = server.recommendation;
    std::vector<std::string> fields = {advice.source, server.name, When(server.span.from),
                                       When(server.span.to), Seconds(server.span.watched)};
    for (const std::int64_t count : server.checkpoints.of) fields.push_back(std::to_string(count));
    fields.push_back(std::to_string(server.checkpoints.stale));
    fields.push_back(std::to_string(settings.max_wal_size.value));
    fields.push_back(Name(settings.max_wal_size.origin));
    fields.push_back(Seconds(settings.checkpoint_timeout.value));
    fields.push_back(Name(settings.checkpoint_timeout.origin));
    fields.push_back(std::to_string(server.wal_bytes));
    fields.push_back(recommendation.need_known
                         ? std::to_string(static_cast<std::int64_t>(recommendation.need.bytes))
                         : "");
    fields.push_back(recommendation.need_known ? std::to_string(recommendation.need.size) : "");
    fields.push_back(recommendation.need_known ? Name(recommendation.need.basis) : "");
    fields.push_back(Name(recommendation.action));
    fields.push_back(std::to_string(recommendation.size));
    fields.push_back(recommendation.limited_by);
    std::string findings;
    for (const Finding& finding : server.findings) findings += (findings.empty() ? "" : " ") + finding.code;
    fields.push_back(findings);
    return CsvRow(fields);
}

}  // namespace

std::string AdviceAsCsv(const Advice& advice) {
    std::string text =
        "source,server,from,to,watched_seconds,wal,time,request,recovery,restartpoint,unknown,stale,"
        "max_wal_size,max_wal_size_source,checkpoint_timeout,checkpoint_timeout_source,wal_bytes,"
        "wal_per_checkpoint_timeout,need,basis,action,recommended,limited_by,findings\n";
    for (const ServerAdvice& server : advice.servers) text += Row(advice, server);
    return text;
}

void PrintAdvice(const Advice& advice, const OutputOptions& options) {
    std::string text;
    switch (options.format) {
        case OutputFormat::kText:
            text = AdviceAsText(advice, Style::ForStdout(options));
            break;
        case OutputFormat::kJson:
            text = AdviceAsJson(advice);
            break;
        case OutputFormat::kCsv:
            text = AdviceAsCsv(advice);
            break;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
}

const char* Name(NeedBasis basis) {
    switch (basis) {
        case NeedBasis::kProjected:
            return "projected";
        case NeedBasis::kMeasured:
            return "measured";
        case NeedBasis::kUpperBound:
            return "upper_bound";
    }
    return "unknown";
}

}  // namespace walsizer::cli
