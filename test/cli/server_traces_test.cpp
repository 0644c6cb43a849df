#include "cli/server/server_traces.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/server/observe_server.hpp"

namespace walsizer::cli {
namespace {

ServerTraces Plain() {
    ServerTraces traces;
    traces.databases = {"postgres", "template1", "app"};
    traces.source = "configuration file";
    traces.file = "/etc/postgresql/15/main/postgresql.conf";
    traces.line = 12;
    return traces;
}

TEST(ServerTraces, KnowsManagedServicesByDatabaseOrSetting) {
    ServerTraces traces = Plain();
    EXPECT_EQ(ServiceOf(traces), Service::kSelfManaged);
    traces.databases.push_back("rdsadmin");
    EXPECT_EQ(ServiceOf(traces), Service::kRds);
    traces = Plain();
    traces.settings = {"rds.extensions"};
    EXPECT_EQ(ServiceOf(traces), Service::kRds);
    traces.settings = {"cloudsql.iam_authentication"};
    EXPECT_EQ(ServiceOf(traces), Service::kCloudSql);
    traces.settings = {"azure.extensions"};
    EXPECT_EQ(ServiceOf(traces), Service::kAzure);
    traces.settings = {"pg_stat_statements.max", "auto_explain.log_analyze"};
    EXPECT_EQ(ServiceOf(traces), Service::kSelfManaged);
}

TEST(ServerTraces, ManagedServicesGetTheirOwnSettingInMegabytesAndNoSql) {
    for (const char* database : {"rdsadmin", "cloudsqladmin", "azure_maintenance"}) {
        ServerTraces traces = Plain();
        traces.databases.push_back(database);
        const auto lines = LinesFor(PlacesOf(traces), 3 * kGiB);
        ASSERT_EQ(lines.size(), 1u) << database;
        EXPECT_EQ(lines[0].line.find("ALTER"), std::string::npos);
        EXPECT_NE(lines[0].line.find("3072"), std::string::npos) << lines[0].line;
        EXPECT_EQ(lines[0].line.find("GB"), std::string::npos);
    }
}

TEST(ServerTraces, TheLikeliestPlaceComesFirst) {
    ServerTraces traces = Plain();
    EXPECT_EQ(PlacesOf(traces).front(), Place::kConf);
    traces.file = "/data/postgresql.auto.conf";
    EXPECT_EQ(PlacesOf(traces).front(), Place::kSql);
    traces.alter_system_allowed = false;
    const auto places = PlacesOf(traces);
    EXPECT_EQ(std::count(places.begin(), places.end(), Place::kSql), 0);
    traces.patroni_sessions = true;
    EXPECT_EQ(PlacesOf(traces), std::vector<Place>{Place::kPatroni});
    traces.cnpg = true;
    EXPECT_EQ(PlacesOf(traces), std::vector<Place>{Place::kCnpg});
    traces.source = "command line";  // overrides whatever a file says
    EXPECT_EQ(PlacesOf(traces), std::vector<Place>{Place::kCommandLine});
}

TEST(ServerTraces, SaysWhereTheValueStands) {
    ServerTraces traces = Plain();
    EXPECT_EQ(SourceInWords(traces), "postgresql.conf line 12");
    traces.file.clear();  // this role may not see it
    EXPECT_EQ(SourceInWords(traces), "configuration file");
    traces.source = "default";
    EXPECT_EQ(SourceInWords(traces), "PostgreSQL's default");
}

TEST(ObserveServer, ReadsPositionsOfEveryVersion) {
    EXPECT_EQ(ParseLsn("16/B374D848"), (Lsn{0x16} << 32) | 0xB374D848);
    EXPECT_EQ(ParseLsn("0/01000028"), Lsn{0x1000028});
    EXPECT_EQ(ParseLsn(""), Lsn{0});
    EXPECT_EQ(ParseLsn("16-B374D848"), Lsn{0});
    EXPECT_EQ(ParseLsn("16/B374D848x"), Lsn{0});
}

TEST(ObserveServer, AsksEachVersionForItsOwnViews) {
    Sight all;
    all.redo = all.counters = all.wal_statistics = true;
    EXPECT_NE(LookStatement(150000, all).find("checkpoints_req"), std::string::npos);
    EXPECT_EQ(LookStatement(150000, all).find("pg_stat_checkpointer"), std::string::npos);
    EXPECT_NE(LookStatement(170000, all).find("pg_stat_checkpointer"), std::string::npos);
    EXPECT_NE(LookStatement(190000, all).find("w.wal_fpi_bytes"), std::string::npos);
    EXPECT_EQ(LookStatement(180000, all).find("w.wal_fpi_bytes"), std::string::npos);
    const std::string least = LookStatement(130000, Sight());
    EXPECT_EQ(least.find(" FROM "), std::string::npos);
}

}  // namespace
}  // namespace walsizer::cli
