#include "cli/log/line.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace walsizer::cli {
namespace {

struct Read {
    Reading reading;
    Event event;
};

Read ReadOne(const std::string& line, const std::string& rest = "") {
    Read read;
    read.reading = ReadLine({line, rest}, read.event);
    return read;
}

const std::string kComplete =
    "checkpoint complete: wrote 1658 buffers (10.1%); 0 WAL file(s) added, 8 removed, 25 recycled; "
    "write=31.146 s, sync=6.772 s, total=39.045 s; sync files=100, longest=1.173 s, average=0.068 s; "
    "distance=529212 kB, estimate=671773 kB; lsn=18CD/DEC704A8, redo lsn=18CD/B6055DF8";

void ExpectComplete(const Read& read, const std::string& line) {
    ASSERT_EQ(read.reading, Reading::kRead) << line;
    ASSERT_EQ(read.event.kind, EventKind::kComplete) << line;
    EXPECT_EQ(read.event.figures.buffers, 1658) << line;
    EXPECT_EQ(read.event.figures.write, 31'146 * kMillisecond) << line;
    EXPECT_EQ(read.event.figures.sync, 6'772 * kMillisecond) << line;
    EXPECT_EQ(read.event.figures.total, 39'045 * kMillisecond) << line;
    EXPECT_EQ(read.event.figures.longest_sync, 1'173 * kMillisecond) << line;
    EXPECT_EQ(read.event.figures.distance, 529212 * kKiB) << line;
    EXPECT_FALSE(read.event.figures.distance_cut) << line;
    EXPECT_EQ(read.event.figures.files_gone, 33) << line;
}

// What no server can have meant is a damaged line: a warning still, without its figure.
TEST(LogLine, SecondsApartAreWithinReason) {
    const auto seconds = [](const std::string& number) {
        const Read read =
            ReadOne("LOG:  checkpoints are occurring too frequently (" + number + " seconds apart)");
        EXPECT_EQ(read.event.kind, EventKind::kFrequent);
        return read.event.seconds;
    };
    EXPECT_EQ(seconds("17"), 17);
    EXPECT_EQ(seconds("86400"), 86400);
    EXPECT_EQ(seconds("497554224488149447"), -1);
    EXPECT_EQ(seconds("99999999999999999999"), -1);
}

// "# language kind", then the line, whose message may have a second line.
TEST(LogLine, ReadsEveryLanguage) {
    std::ifstream file("test/cli/translated.txt");
    std::string title, line;
    int count = 0;
    while (std::getline(file, title)) {
        ASSERT_EQ(title.substr(0, 2), "# ");
        std::getline(file, line);
        std::string rest;
        while (file.peek() == '\t') {
            std::string more;
            std::getline(file, more);
            rest += more + "\n";
        }
        const std::string kind = title.substr(title.rfind(' ') + 1);
        // What the scanner does not see is never read.
        EXPECT_LT(FindWord(line.data(), line.size()), line.size()) << line;
        const Read read = ReadOne(line, rest);
        ASSERT_EQ(read.reading, Reading::kRead) << line;
        EXPECT_EQ(read.event.pid, 27) << line;
        ASSERT_TRUE(read.event.at) << line;
        EXPECT_EQ(Print(*read.event.at), "2026-07-18 12:06:32");
        EXPECT_EQ(read.event.at->utc_offset, 7200);
        if (kind == "start") {
            EXPECT_EQ(read.event.kind, EventKind::kStart) << line;
            EXPECT_EQ(read.event.cause, Cause::kWal) << line;
        } else if (kind == "rstart") {
            EXPECT_EQ(read.event.kind, EventKind::kStart) << line;
            EXPECT_EQ(read.event.cause, Cause::kRestartpoint) << line;
        } else if (kind == "complete" || kind == "rcomplete") {
            ExpectComplete(read, line);
            EXPECT_EQ(read.event.restartpoint, kind == "rcomplete") << line;
        } else if (kind == "freq") {
            EXPECT_EQ(read.event.kind, EventKind::kFrequent) << line;
            EXPECT_EQ(read.event.seconds, 17) << line;
        } else if (kind == "hint") {
            EXPECT_EQ(read.event.kind, EventKind::kHint) << line;
        } else {
            EXPECT_EQ(read.event.kind, EventKind::kSetting) << line;
            EXPECT_EQ(read.event.value, kind == "changed" ? 4.0 * kGiB : -1.0) << line;
        }
        ++count;
    }
    EXPECT_GT(count, 150);
}

TEST(LogLine, ReadsEveryPrefix) {
    struct Example {
        const char* prefix;
        const char* server;
        std::int64_t pid;
        const char* time;
    };
    const Example examples[] = {
        {"2026-07-18 12:06:32.835 UTC [27] LOG:  ", "", 27, "2026-07-18 12:06:32"},
        {"2026-07-18 12:06:32 UTC::@:[397]:LOG:  ", "", 397, "2026-07-18 12:06:32"},
        {"2026-07-18 12:06:32 CEST [94648]: [7-1] user=,db=,client= LOG:  ", "", 94648,
         "2026-07-18 12:06:32"},
        {"2026-07-18 12:06:32.835 UTC [42] checkpointer LOG:  ", "", 42, "2026-07-18 12:06:32"},
        {"2026-07-18 12:06:32.835 UTC [42] LOG:  00000: ", "", 42, "2026-07-18 12:06:32"},
        {"1784376392.835 [27] LOG:  ", "", 27, "2026-07-18 12:06:32"},
        {"db-1                   | 2026-07-18 12:06:32.835 UTC [86] LOG:  ", "db-1", 86,
         "2026-07-18 12:06:32"},
        {"[pod/pg-0/postgres] 2026-07-18 12:06:32.835 UTC [27] LOG:  ", "pod/pg-0/postgres", 27,
         "2026-07-18 12:06:32"},
        {"2026-07-18T12:06:32.999Z stdout F 2026-07-18 12:06:32.835 UTC [27] LOG:  ", "", 27,
         "2026-07-18 12:06:32"},
        {"Jul 18 12:06:32 db1 postgres[2979]: [13-1] LOG:  ", "db1 postgres", 2979, nullptr},
        {"<134>Jul 18 12:06:32 db1 postgres[2979]: [13-1] 2026-07-18 12:06:32 UTC LOG:  ", "db1 postgres",
         2979, "2026-07-18 12:06:32"},
        {"<134>1 2026-07-18T12:06:32.835+00:00 db1 postgres 2979 - - [13-1] LOG:  ", "db1 postgres", 2979,
         "2026-07-18 12:06:32"},
        {"│ 2026-07-18 12:06:32.835 UTC [49] LOG:  ", "", 49, "2026-07-18 12:06:32"},
        {"postgresql-Sat.log:2026-07-18 12:06:32 UTC [49] LOG:  ", "", 49, "2026-07-18 12:06:32"},
        {"LOG:  ", "", 0, nullptr},
    };
    for (const Example& example : examples) {
        const Read read = ReadOne(example.prefix + kComplete);
        ExpectComplete(read, example.prefix);
        EXPECT_EQ(read.event.figures.redo, 0x18CDB6055DF8u) << example.prefix;
        EXPECT_EQ(read.event.server, example.server) << example.prefix;
        EXPECT_EQ(read.event.pid, example.pid) << example.prefix;
        if (example.time != nullptr) {
            ASSERT_TRUE(read.event.at) << example.prefix;
            EXPECT_EQ(Print(*read.event.at), example.time) << example.prefix;
        }
    }
}

TEST(LogLine, ReadsCsvAndJson) {
    const std::string csv =
        "2026-07-18 12:06:32.835 UTC,,,57574,,5978e06e.e0e6,19350,,2026-07-01 00:00:00 UTC,,0,LOG,00000,\"" +
        kComplete + "\",,,,,,,,,\"\",\"checkpointer\",,0";
    const std::string json =
        R"({"timestamp":"2026-07-18 12:06:32.835 UTC","pid":57574,"error_severity":"LOG","message":")" +
        kComplete + R"(","backend_type":"checkpointer","query_id":0})";
    const std::string docker = R"({"log":"2026-07-18 12:06:32.835 UTC [57574] LOG:  )" + kComplete +
                               R"(\n","stream":"stderr","time":"2026-07-18T12:06:32.836Z"})";
    const std::string cnpg =
        R"({"level":"info","ts":"2026-07-18T12:06:32Z","logger":"postgres","msg":"record","logging_pod":"pg-1","record":)"
        R"({"log_time":"2026-07-18 12:06:32.835 UTC","process_id":"57574","error_severity":"LOG","message":")" +
        kComplete + R"(","backend_type":"checkpointer"}})";
    const std::string cloud =
        R"({"insertId":"s=1","resource":{"type":"cloudsql_database","labels":{"database_id":"p:db"}},"textPayload":)"
        R"("2026-07-18 12:06:32.835 UTC [57574]: [5-1] db=,user= LOG:  )" +
        kComplete + R"(","timestamp":"2026-07-18T12:06:32.837Z"})";
    for (const std::string& line : {csv, json, docker, cnpg, "pg-1 | " + cnpg, cloud}) {
        const Read read = ReadOne(line);
        ExpectComplete(read, line);
        EXPECT_EQ(read.event.pid, 57574) << line;
        ASSERT_TRUE(read.event.at) << line;
        EXPECT_EQ(Print(*read.event.at), "2026-07-18 12:06:32") << line;
        EXPECT_NE(read.event.identity, 0u) << line;
    }
    EXPECT_EQ(ReadOne(cnpg).event.server, "pg-1");
    EXPECT_EQ(ReadOne(cloud).event.server, "p:db");
}

TEST(LogLine, IgnoresWhatOthersQuote) {
    for (const char* line : {
             "2026-07-18 12:06:32 UTC [9] LOG:  statement: SELECT 'LOG:  checkpoint starting: wal'",
             "2026-07-18 12:06:32 UTC [9] LOG:  statement: ALTER SYSTEM SET max_wal_size = '64GB'",
             "2026-07-18 12:06:32 UTC [9] STATEMENT:  select 'checkpoint starting: wal'",
             "2026-07-18 12:06:32 UTC [9] ANWEISUNG:  select $$LOG:  checkpoint starting: wal$$",
             "2026-07-18 12:06:32 UTC [9] ERROR:  relation \"checkpoint starting: wal\" does not exist",
             "INSERT INTO notes VALUES ('2026-07-18 12:06:32 UTC checkpoint starting: wal')",
             "see 2026-07-18 12:06:32 UTC for the checkpoint starting: wal",
             " num_timed | num_requested | num_done | checkpoints_req",
             "2026-07-18 12:06:32 UTC [9] DETAIL:  parameter \"max_wal_size\" changed to \"4GB\"",
         })
        EXPECT_EQ(ReadOne(line).reading, Reading::kNotOurs) << line;
}

TEST(LogLine, CountsWhatIsCutAsUnreadableAndInventsNothing) {
    const std::string prefix = "2026-07-18 12:06:32 UTC [9] LOG:  ";
    EXPECT_EQ(ReadOne(prefix + "checkpoint comp").reading, Reading::kUnreadable);
    EXPECT_EQ(ReadOne(prefix + "checkpoint complete: wro").reading, Reading::kUnreadable);
    EXPECT_EQ(ReadOne(prefix + "checkpoint starting: nonsense").reading, Reading::kUnreadable);
    EXPECT_EQ(ReadOne(prefix + "parameter \"max_wal_size\" changed to \"4 apples\"").reading,
              Reading::kUnreadable);
    EXPECT_EQ(ReadOne(prefix + "redo starts at nowhere").reading, Reading::kUnreadable);
    // Every way to cut the line off: what is read of it is what stood there.
    for (std::size_t size = 0; size < kComplete.size(); ++size) {
        const Read read = ReadOne(prefix + kComplete.substr(0, size));
        if (read.reading != Reading::kRead) continue;
        const CheckpointFigures& figures = read.event.figures;
        EXPECT_TRUE(figures.total < 0 || figures.total == 39'045 * kMillisecond) << size;
        EXPECT_TRUE(figures.sync < 0 || figures.sync == 6'772 * kMillisecond) << size;
        EXPECT_TRUE(figures.distance < 0 || figures.distance_cut || figures.distance == 529212 * kKiB)
            << size;
    }
}

TEST(LogLine, JoinsWrappedLines) {
    const std::string prefix = "2026-07-18 12:06:32 UTC [9] LOG:  ";
    for (std::size_t size = 60; size < kComplete.size(); ++size) {
        const Read read = ReadOne(prefix + kComplete.substr(0, size), kComplete.substr(size) + "\nmore\n");
        ASSERT_EQ(read.reading, Reading::kRead) << size;
        EXPECT_TRUE(read.event.figures.distance == 529212 * kKiB || read.event.figures.distance < 0 ||
                    read.event.figures.distance_cut)
            << size << " " << read.event.figures.distance;
    }
    // The next record is none of its continuation.
    const Read read = ReadOne(prefix + kComplete.substr(0, 120),
                              "2026-07-18 12:07:00 UTC [9] LOG:  checkpoint complete: distance=1 kB, x;\n");
    EXPECT_LT(read.event.figures.distance, 0);
}

TEST(LogLine, FlagsTellTheCause) {
    const auto cause = [](const std::string& flags) {
        return ReadOne("2026-07-18 12:06:32 UTC [9] LOG:  checkpoint starting: " + flags).event.cause;
    };
    EXPECT_EQ(cause("wal"), Cause::kWal);
    EXPECT_EQ(cause("xlog"), Cause::kWal);
    EXPECT_EQ(cause("wal time"), Cause::kWal);
    EXPECT_EQ(cause("time"), Cause::kTime);
    EXPECT_EQ(cause("immediate force wait"), Cause::kRequest);
    EXPECT_EQ(cause("fast force wait flush-unlogged"), Cause::kRequest);
    EXPECT_EQ(cause("force"), Cause::kRequest);
    EXPECT_EQ(cause("immediate force wait time"), Cause::kTime);
    EXPECT_EQ(cause("end-of-recovery immediate wait"), Cause::kRecovery);
    EXPECT_EQ(cause("shutdown immediate"), Cause::kRecovery);
}

TEST(LogLine, KnowsAServerLogByItsFirstLines) {
    EXPECT_TRUE(LooksLikeServerLog("2026-07-18 12:06:32 UTC [9] LOG:  listening on IPv4\n"));
    EXPECT_TRUE(LooksLikeServerLog("2026-07-18 12:06:32.8 CEST [9] СООБЩЕНИЕ:  x\n"));
    EXPECT_FALSE(LooksLikeServerLog("{\"name\": \"package\", \"version\": 1}\n"));
    EXPECT_FALSE(LooksLikeServerLog("127.0.0.1 - - [18/Jul/2026:12:06:32 +0000] \"GET / HTTP/1.1\" 200\n"));
    EXPECT_FALSE(LooksLikeServerLog("Dear reader,\nthis is no log.\n"));
}

}  // namespace
}  // namespace walsizer::cli
