#include <fmt/format.h>

#include <cstdio>

#include "cli/print_advice.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

// One table: a row for each server, which also tells its present size's what-if figures, and below it a row
// for each other size, in which the server's own columns are empty.
constexpr std::size_t kColumnsOfServer = 24;
constexpr std::size_t kSizeColumn = 12;
constexpr std::size_t kWhatIfColumns = 10;

std::string Seconds(Micros time) {
    return time < 0 ? std::string() : fmt::format("{:.3f}", static_cast<double>(time) / kSecond);
}

std::string When(const std::optional<Instant>& instant) {
    return instant ? Print(*instant) : std::string();
}

const char* Word(bool value) {
    return value ? "true" : "false";
}

// The columns of the what-if table, but for the size itself; all empty where there is no such row.
void AddWhatIf(const WhatIfSize* row, std::vector<std::string>& fields) {
    if (row == nullptr) {
        fields.insert(fields.end(), kWhatIfColumns, "");
        return;
    }
    fields.push_back(std::to_string(row->trigger_size));
    fields.push_back(fmt::format("{:.3f}", row->timed_per_hour));
    fields.push_back(fmt::format("{:.3f}", row->forced_per_hour));
    fields.push_back(row->forced_ratio < 0 ? "" : fmt::format("{:.4f}", row->forced_ratio));
    fields.push_back(std::to_string(row->wal_per_hour));
    fields.push_back(Word(row->is_bound));
    fields.push_back(Seconds(row->recovery_estimate));
    fields.push_back(row->fits_disk ? Word(*row->fits_disk) : "");
    fields.push_back(Word(row->fits_recovery_time));
    fields.push_back(row->note);
}

// Another size: only what tells it from the server's own row is filled.
std::string WhatIfRow(const Advice& advice, const ServerAdvice& server, const WhatIfSize& row) {
    std::vector<std::string> fields(kColumnsOfServer);
    fields[0] = advice.source;
    fields[1] = server.name;
    fields[kSizeColumn] = std::to_string(row.max_wal_size);
    AddWhatIf(&row, fields);
    return CsvRow(fields);
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
    const WhatIfSize* present = nullptr;
    for (const WhatIfSize& size : server.what_if.sizes)
        if (size.max_wal_size == settings.max_wal_size.value) present = &size;
    AddWhatIf(present, fields);
    return CsvRow(fields);
}

}  // namespace

std::string AdviceAsCsv(const Advice& advice) {
    std::string text =
        "source,server,from,to,watched_seconds,wal,time,request,recovery,restartpoint,unknown,stale,"
        "max_wal_size,max_wal_size_source,checkpoint_timeout,checkpoint_timeout_source,wal_bytes,"
        "wal_per_checkpoint_timeout,need,basis,action,recommended,limited_by,findings,"
        "trigger_size,timed_per_hour,forced_per_hour,forced_ratio,wal_per_hour,is_bound,recovery_estimate,"
        "fits_disk,fits_recovery_time,note\n";
    for (const ServerAdvice& server : advice.servers) {
        text += Row(advice, server);
        for (const WhatIfSize& size : server.what_if.sizes)
            if (size.max_wal_size != server.settings.max_wal_size.value)
                text += WhatIfRow(advice, server, size);
    }
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
