#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/report/report_page.hpp"

namespace walsizer::cli {
namespace {

Advice WatchedServer() {
    Advice advice;
    advice.source = "db1:5432/shop";
    ServerAdvice& server = advice.servers.emplace_back();
    server.span = {Instant{1000 * kSecond, 3600}, Instant{2000 * kSecond, 3600}, 1000 * kSecond};
    Checkpoint checkpoint;
    checkpoint.started = Instant{1500 * kSecond, 3600};
    checkpoint.cause = Cause::kWal;
    checkpoint.wal_bytes = 528 * kMiB;
    server.history.push_back(checkpoint);
    server.checkpoints[Cause::kWal] = 1;
    server.recommendation.action = Action::kRaise;
    server.recommendation.size = 2 * kGiB;
    server.recommendation.lines = {{"postgresql.conf", "max_wal_size = 2GB"}};
    return advice;
}

TEST(Report, HoldsWhatTheAdviceSays) {
    const auto report = ReportOf(WatchedServer());
    EXPECT_EQ(report["verdict"]["title"], "Raise max_wal_size from 1GB to 2GB");
    EXPECT_EQ(report["verdict"]["lines"][0]["line"], "max_wal_size = 2GB");
    EXPECT_EQ(report["checkpoints"][0]["cause"], "wal");
    EXPECT_EQ(report["checkpoints"][0]["t"], (946684800 + 1500) * std::int64_t{1000});
    EXPECT_EQ(report["utc_offset"], 3600);
    EXPECT_EQ(report["checkpoints"][0]["gap"], nullptr);
}

TEST(Report, HostileStringsStayText) {
    const std::string hostile = "</script><script>alert('&\"x')</script><!-- \xff __DATA__ __TITLE__";
    Advice advice = WatchedServer();
    advice.source = advice.servers[0].recommendation.reason = hostile;
    advice.notes = {hostile};
    const std::string page = Page(ReportOf(advice));
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<!-- \xff"), std::string::npos);
    std::size_t ends = 0;
    for (std::size_t at = page.find("</script>"); at != std::string::npos;
         at = page.find("</script>", at + 1))
        ++ends;
    EXPECT_EQ(ends, 2u);
    // And what is in the script element is JSON that holds the very string.
    const std::string open = "id=\"data\">";
    const std::size_t from = page.find(open) + open.size();
    const auto data = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
    EXPECT_EQ(data["notes"][0].get<std::string>().find("</script><script>alert('&\"x')"), 0u);
    EXPECT_NE(data["notes"][0].get<std::string>().find("__DATA__ __TITLE__"), std::string::npos);
}

TEST(Report, ASourceWithoutCheckpointsIsAPage) {
    Advice advice;
    advice.source = "nothing";
    advice.servers.emplace_back();
    const std::string page = Page(ReportOf(advice));
    EXPECT_EQ(page.find("<!DOCTYPE html>"), 0u);
    EXPECT_NE(page.find("<title>walsizer: nothing</title>"), std::string::npos);
}

}  // namespace
}  // namespace walsizer::cli
