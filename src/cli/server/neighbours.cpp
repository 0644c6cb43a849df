#include "cli/server/neighbours.hpp"

#include <fmt/format.h>

#include "cli/finding_words.hpp"
#include "cli/quantity.hpp"
#include "cli/server/local_time.hpp"

namespace walsizer::cli {

namespace {

constexpr int kHasBackendIo = 160000;
constexpr int kCountsIndexFsyncs = 170000;
constexpr int kHasImageBytes = 190000;

std::string Statement() {
    static constexpr const char* kSettings[] = {
        "log_checkpoints",       "wal_compression",        "min_wal_size",
        "shared_buffers",        "bgwriter_delay",         "archive_timeout",
        "bgwriter_lru_maxpages", "checkpoint_flush_after", "wal_level"};
    std::string statement =
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'wal_compression' AND 'lz4' = ANY "
        "(enumvals)) AS has_lz4, (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_progress_basebackup) AS "
        "backups";
    for (const char* name : kSettings)
        statement += fmt::format(", pg_catalog.current_setting('{0}', true) AS {0}", name);
    return statement;
}

template <typename Value, typename Parser>
void Take(const Rows& rows, const char* name, Value unit, Parser parse, std::optional<Value>& fact) {
    Value value = 0;
    const auto text = rows.Get(name);
    if (text && parse(*text, unit, value)) fact = value;
}

void TakeSwitch(const Rows& rows, const char* name, std::optional<bool>& fact) {
    // An enumeration's other values are ways of being on.
    if (const auto text = rows.Get(name)) fact = *text != "off";
}

ShortText TimeText(Timestamp at) noexcept {
    ShortText text;
    const LocalTime local = LocalTimeOf(at);
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return text.Set("%d %s %02d:%02d", local.day, kMonths[local.month - 1], local.hour, local.minute);
}

// Statements that ask for checkpoints, as far as pg_stat_statements of this database counted them.
std::string CountedStatements(Connection& connection) {
    try {
        const Rows schema = connection.Query(
            "SELECT pg_catalog.quote_ident(n.nspname) AS name FROM pg_catalog.pg_namespace n JOIN "
            "pg_catalog.pg_extension e ON e.extnamespace = n.oid WHERE e.extname = 'pg_stat_statements'");
        if (schema.empty()) return {};
        return connection
            .Query(fmt::format(
                "SELECT pg_catalog.string_agg(calls || ' ' || command, ', ' ORDER BY calls DESC) AS counted "
                "FROM "
                "(SELECT pg_catalog.upper(pg_catalog.regexp_replace(command, '\\s+', ' ')) AS command, "
                "pg_catalog.sum(calls) AS calls FROM {}.pg_stat_statements, pg_catalog.substring(query, "
                "'(?i)^\\s*(checkpoint|create\\s+database|drop\\s+database|select\\s+pg_(?:start_backup|"
                "backup_"
                "start))\\M') AS command WHERE command IS NOT NULL GROUP BY 1) AS counted",
                *schema.Get("name")))
            .Get("counted")
            .value_or("");
    } catch (const StatementFailed&) {
        return {};  // installed, but not preloaded
    }
}

void GatherSettings(Connection& connection, AdviceFacts& facts) {
    const Rows rows = connection.Query(Statement());
    TakeSwitch(rows, "log_checkpoints", facts.log_checkpoints);
    TakeSwitch(rows, "wal_compression", facts.wal_compression);
    Take<Bytes>(rows, "min_wal_size", kMiB, ParseSize, facts.min_wal_size);
    Take<Bytes>(rows, "shared_buffers", 8 * kKiB, ParseSize, facts.shared_buffers);
    Take<Bytes>(rows, "checkpoint_flush_after", 8 * kKiB, ParseSize, facts.checkpoint_flush_after);
    Take<Micros>(rows, "bgwriter_delay", kMillisecond, ParseTime, facts.bgwriter_delay);
    Take<Micros>(rows, "archive_timeout", kSecond, ParseTime, facts.archive_timeout);
    if (rows.Get("bgwriter_lru_maxpages"))
        facts.bgwriter_lru_maxpages = static_cast<int>(rows.Integer("bgwriter_lru_maxpages"));
    facts.has_lz4 = rows.Flag("has_lz4");
    facts.wal_minimal = rows.Get("wal_level").value_or("") == "minimal";
    if (rows.Integer("backups") > 0)
        facts.requesters.Set("base backups running now: %lld",
                             static_cast<long long>(rows.Integer("backups")));
    const std::string counted = CountedStatements(connection);
    if (!counted.empty())
        facts.requesters.Append("%spg_stat_statements counts %s", facts.requesters.empty() ? "" : "; ",
                                counted.c_str());
}

}  // namespace

HeldWal FindHeldWal(Connection& connection) {
    HeldWal held;
    try {
        const Rows rows = connection.Query(
            "SELECT s.slot_name, pg_catalog.pg_wal_lsn_diff(c.redo_lsn, s.restart_lsn)::pg_catalog.int8 AS "
            "bytes, "
            "pg_catalog.current_setting('max_slot_wal_keep_size', true) AS bound "
            "FROM pg_catalog.pg_replication_slots s, pg_catalog.pg_control_checkpoint() c "
            "WHERE s.restart_lsn < c.redo_lsn ORDER BY s.restart_lsn LIMIT 1");
        if (rows.empty()) return held;
        held.bytes = rows.Integer("bytes");
        held.holder = Holder::kSlot;
        held.bounded = rows.Get("bound").value_or("-1") != "-1";
        held.name.Set("replication slot %s", rows.Get("slot_name").value_or("").c_str());
    } catch (const StatementFailed&) {
        return HeldWal();
    }
    return held;
}

std::vector<Finding> AdviseNeighbours(Connection& connection, const ServerTraces& traces,
                                      const CycleFeed& feed, const ServerAdvice& advice,
                                      const VolumeFacts& volume) {
    AdviceFacts facts;
    const Observation& latest = feed.latest();
    const int version = connection.version();
    facts.server = latest.server;
    facts.in_recovery = latest.in_recovery;
    facts.backend_writes_exact = version >= kHasBackendIo;
    facts.backend_fsyncs_exact = version < kCountsIndexFsyncs;
    facts.fpi_bytes_exact = version >= kHasImageBytes;
    facts.volume = volume;
    facts.storage.Set("%s", traces.own_storage.c_str());
    if (advice.recommendation.need_known) facts.need = advice.recommendation.need.size;
    facts.journal = &feed.journal();
    facts.now = latest.wall;
    facts.time_text = TimeText;
    try {
        GatherSettings(connection, facts);
    } catch (const std::runtime_error&) {
        // The server went away at the very end: the rules that lack their facts stay silent.
    }
    const WindowRecord open = feed.tracker().open_window();
    FillActivity(feed.journal(), feed.empty() ? nullptr : &open, facts);
    Findings findings;
    Advise(facts, findings);
    return InWords(findings, ServiceOf(traces) == Service::kSelfManaged);
}

}  // namespace walsizer::cli
