#include "cli/finding_words.hpp"

#include <fmt/format.h>

#include <string_view>

namespace walsizer::cli {

namespace {

std::string Hint(std::string_view statement, bool by_sql) {
    constexpr std::string_view kAlterSystem = "ALTER SYSTEM SET ";
    if (by_sql || statement.substr(0, kAlterSystem.size()) != kAlterSystem) return std::string(statement);
    return fmt::format("Among the service's own parameters: {}", statement.substr(kAlterSystem.size()));
}

}  // namespace

std::vector<Finding> InWords(const Findings& findings, bool by_sql) {
    std::vector<Finding> result;
    for (unsigned i = 0; i < findings.count; ++i) {
        const walsizer::Finding& row = findings.rows[i];
        Finding finding;
        finding.severity = row.severity == walsizer::Severity::kWarning  ? Severity::kWarning
                           : row.severity == walsizer::Severity::kNotice ? Severity::kNotice
                                                                         : Severity::kInfo;
        finding.code = row.topic;
        finding.message = fmt::format("{}: {}", row.finding.c_str(), row.evidence.c_str());
        finding.hint = Hint(row.statement.c_str(), by_sql);
        result.push_back(std::move(finding));
    }
    return result;
}

}  // namespace walsizer::cli
