#include "cli/finding_words.hpp"

#include <gtest/gtest.h>

namespace walsizer::cli {
namespace {

Finding WordsOf(const char* statement, bool by_sql) {
    Findings findings;
    walsizer::Finding& row = findings.Add(walsizer::Severity::kNotice, "topic");
    row.finding.Set("what it means");
    row.evidence.Set("the numbers");
    row.statement.Set("%s", statement);
    return InWords(findings, by_sql).at(0);
}

TEST(FindingInWords, KeepsWhatTheEngineSays) {
    const Finding finding = WordsOf("ALTER SYSTEM SET wal_compression = on", true);
    EXPECT_EQ(finding.code, "topic");
    EXPECT_EQ(finding.severity, Severity::kNotice);
    EXPECT_EQ(finding.message, "what it means: the numbers");
    EXPECT_EQ(finding.hint, "ALTER SYSTEM SET wal_compression = on");
}

TEST(FindingInWords, IsNoSqlOnAManagedService) {
    EXPECT_EQ(WordsOf("ALTER SYSTEM SET wal_compression = on", false).hint,
              "Among the service's own parameters: wal_compression = on");
    EXPECT_EQ(WordsOf("none: look elsewhere", false).hint, "none: look elsewhere");
}

}  // namespace
}  // namespace walsizer::cli
