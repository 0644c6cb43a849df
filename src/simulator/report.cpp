#include "simulator/report.hpp"

#include <cstdarg>
#include <cstdio>
#include <functional>

namespace walsizer::simulator {

namespace {

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...) {
    char buffer[200];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    return buffer;
}

const RunResult& Of(const TraceResult& result, PolicyKind kind) {
    return result.runs[static_cast<int>(kind)];
}

double GbHours(const RunResult& run) {
    return run.figures.byte_hours / static_cast<double>(kGiB);
}
double Seconds(Micros time) {
    return static_cast<double>(time) / kSecond;
}

using Figure = std::function<double(const TraceResult&, PolicyKind)>;

void PrintTable(std::ostream& out, const std::vector<TraceResult>& results, const char* title,
                const char* format, bool total, const Figure& figure) {
    out << Format("%-22s", title);
    for (const PolicyKind kind : kPolicies) out << Format(" %10.11s", Name(kind));
    out << '\n';
    double sums[5] = {};
    const auto line = [&](const std::string& name, const std::function<double(PolicyKind)>& value) {
        out << Format("%-22s", name.c_str());
        for (const PolicyKind kind : kPolicies) {
            char number[32];
            std::snprintf(number, sizeof(number), format, value(kind));
            out << Format(" %10s", number);
        }
        out << '\n';
    };
    for (const TraceResult& result : results) {
        line("  " + result.trace->name, [&](PolicyKind kind) { return figure(result, kind); });
        for (const PolicyKind kind : kPolicies) sums[static_cast<int>(kind)] += figure(result, kind);
    }
    if (total) line("total", [&](PolicyKind kind) { return sums[static_cast<int>(kind)]; });
    out << '\n';
}

}  // namespace

void PrintTables(std::ostream& out, const std::vector<TraceResult>& results) {
    PrintTable(out, results, "forced checkpoints", "%.0f", true, [](const auto& result, PolicyKind kind) {
        return static_cast<double>(Of(result, kind).figures.forced);
    });
    PrintTable(out, results, "final / hindsight", "%.2f", false,
               [](const auto& result, PolicyKind kind) { return result.Ratio(kind); });
    PrintTable(out, results, "GB-hours provisioned", "%.1f", true,
               [](const auto& result, PolicyKind kind) { return GbHours(Of(result, kind)); });
    PrintTable(out, results, "changes of size", "%.0f", true, [](const auto& result, PolicyKind kind) {
        return static_cast<double>(Of(result, kind).changes.size());
    });
    PrintTable(out, results, "s above a ceiling", "%.0f", true, [](const auto& result, PolicyKind kind) {
        return Seconds(Of(result, kind).figures.in_violation);
    });
}

void PrintCsv(std::ostream& out, const std::vector<TraceResult>& results) {
    out << "trace,half,policy,forced,timed,requested,wal_bytes,fpi_bytes,final_size,hindsight_size,"
           "final_over_hindsight,gb_hours,changes,violation_s,largest_pg_wal,worst_recovery_s,looks\n";
    for (const TraceResult& result : results) {
        for (const PolicyKind kind : kPolicies) {
            const RunResult& run = Of(result, kind);
            const Figures& figures = run.figures;
            out << result.trace->name << ',' << (result.trace->held_out ? "held_out" : "tuning") << ','
                << Name(kind) << ','
                << Format("%lld,%lld,%lld,%.0f,%.0f,%lld,%lld,%.3f,%.3f,%zu,%.0f,%lld,%.1f,%lld\n",
                          static_cast<long long>(figures.forced), static_cast<long long>(figures.timed),
                          static_cast<long long>(figures.requested),
                          figures.record_bytes + figures.image_bytes, figures.image_bytes,
                          static_cast<long long>(run.final_size), static_cast<long long>(result.hindsight),
                          result.Ratio(kind), GbHours(run), run.changes.size(), Seconds(figures.in_violation),
                          static_cast<long long>(figures.largest_wal_dir), Seconds(figures.longest_recovery),
                          static_cast<long long>(run.looks));
        }
    }
}

int PrintVerdict(std::ostream& out, const std::vector<TraceResult>& results) {
    std::int64_t walsizer = 0;
    std::int64_t multiply = 0;
    std::int64_t unavoidable = 0;
    std::string more;
    std::string off;
    double violation = 0;
    int steady = 0;
    int within = 0;
    for (const TraceResult& result : results) {
        const std::int64_t ours = Of(result, PolicyKind::kWalsizer).figures.forced;
        const std::int64_t theirs = Of(result, PolicyKind::kMultiply).figures.forced;
        walsizer += ours;
        multiply += theirs;
        unavoidable += Of(result, PolicyKind::kHindsight).figures.forced;
        if (ours > theirs)
            more += " " + result.trace->name +
                    Format(" (%lld, %lld)", static_cast<long long>(ours), static_cast<long long>(theirs));
        violation += Seconds(Of(result, PolicyKind::kWalsizer).figures.in_violation);
        if (!result.trace->steady) continue;
        ++steady;
        const double ratio = result.Ratio(PolicyKind::kWalsizer);
        if (ratio >= 0.995 && ratio <= 1.5)
            ++within;
        else
            off += " " + result.trace->name + Format(" (%.2f)", ratio);
    }
    int broken = 0;
    const auto tell = [&](bool kept, const std::string& text) {
        broken += !kept;
        out << (kept ? "kept   " : "BROKEN ") << text << '\n';
    };
    const std::int64_t avoidable = walsizer - unavoidable;
    tell(avoidable * 10 <= multiply - unavoidable,
         Format("at most a tenth of multiply's forced checkpoints: %lld of %lld",
                static_cast<long long>(avoidable), static_cast<long long>(multiply - unavoidable)) +
             (unavoidable == 0 ? ""
                               : Format("\n       (besides %lld in each that a ceiling makes unavoidable)",
                                        static_cast<long long>(unavoidable))));
    tell(more.empty(),
         "never more of them than multiply on any trace" + (more.empty() ? "" : ", but" + more));
    tell(off.empty(), Format("1.0 to 1.5 x hindsight after a steady load: %d of %d", within, steady) +
                          (off.empty() ? "" : ", not" + off));
    tell(violation == 0, Format("never above a ceiling: %.0f s", violation));
    return broken;
}

}  // namespace walsizer::simulator
