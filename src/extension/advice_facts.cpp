#include "advice_facts.hpp"

#include <unistd.h>

// A number as SHOW would print it, but without its unit: pg_settings.setting.
static bool walsizer_setting_number(const char* name, int64* value) {
    const char* text = GetConfigOption(name, /* missing_ok */ true, /* restrict_privileged */ false);
    if (text == NULL) return false;
    char* end = NULL;
    *value = strtoll(text, &end, 10);
    return end != text;
}

static void walsizer_setting_size(const char* name, int64 unit, std::optional<walsizer::Bytes>* fact) {
    int64 value;
    if (walsizer_setting_number(name, &value)) *fact = value * unit;
}

static void walsizer_setting_time(const char* name, int64 unit, std::optional<walsizer::Micros>* fact) {
    int64 value;
    if (walsizer_setting_number(name, &value)) *fact = value * unit;
}

// True unless it is "off": an enumeration's other values are ways of being on.
static void walsizer_setting_switch(const char* name, std::optional<bool>* fact) {
    const char* text = GetConfigOption(name, true, false);
    if (text != NULL) *fact = strcmp(text, "off") != 0;
}

// A container's limit, in either version of control groups; "max" or a number beyond any machine: none.
static walsizer::Bytes walsizer_memory_limit(const char* name) {
    char text[32] = "";
    FILE* file = AllocateFile(name, "r");
    if (file == NULL) return 0;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    FreeFile(file);
    text[length] = '\0';
    return strtoll(text, NULL, 10);
}

// Of the machine, or of the container.
static std::optional<walsizer::Bytes> walsizer_memory() {
    std::optional<walsizer::Bytes> memory;
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (pages > 0) memory = (walsizer::Bytes)pages * sysconf(_SC_PAGESIZE);
    static const char* const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (const char* name : limits) {
        const walsizer::Bytes limit = walsizer_memory_limit(name);
        if (limit > 0 && (!memory || limit < *memory)) memory = limit;
    }
    return memory;
}

static void walsizer_gather_settings(walsizer::AdviceFacts* facts) {
    int64 value;
    walsizer_setting_switch("log_checkpoints", &facts->log_checkpoints);
    walsizer_setting_switch("wal_compression", &facts->wal_compression);
    walsizer_setting_size("min_wal_size", walsizer::kMiB, &facts->min_wal_size);
    walsizer_setting_size("shared_buffers", BLCKSZ, &facts->shared_buffers);
    walsizer_setting_size("checkpoint_flush_after", BLCKSZ, &facts->checkpoint_flush_after);
    walsizer_setting_time("bgwriter_delay", walsizer::kMillisecond, &facts->bgwriter_delay);
    walsizer_setting_time("archive_timeout", walsizer::kSecond, &facts->archive_timeout);
    if (walsizer_setting_number("bgwriter_lru_maxpages", &value)) facts->bgwriter_lru_maxpages = (int)value;
    facts->memory = walsizer_memory();
}

// The text that a query of one row and one column answers; NULL for none. In the caller's memory context.
static char* walsizer_ask(const char* query, MemoryContext context) {
    if (SPI_execute(query, /* read_only */ true, 1) != SPI_OK_SELECT || SPI_processed == 0) return NULL;
    const char* answer = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
    return answer == NULL ? NULL : MemoryContextStrdup(context, answer);
}

// Statements that ask for checkpoints, as far as pg_stat_statements saw them. It can be installed in a server
// that does not preload it, where it raises an ERROR when asked. Its settings may still stand in the files
// there; pg_settings shows them only when the library has defined them.
static char* walsizer_counted_statements(MemoryContext context) {
    const char* schema = walsizer_ask(
        "SELECT quote_ident(nspname) FROM pg_namespace n JOIN pg_extension e ON e.extnamespace = n.oid "
        "WHERE extname = 'pg_stat_statements' "
        "AND EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max')",
        context);
    if (schema == NULL) return NULL;
    return walsizer_ask(
        psprintf("SELECT string_agg(calls || ' ' || command, ', ' ORDER BY calls DESC) FROM ("
                 "SELECT upper(regexp_replace(command, '\\s+', ' ')) AS command, sum(calls) AS calls "
                 "FROM %s.pg_stat_statements, substring(query FROM "
                 "'(?i)^\\s*(checkpoint|create\\s+database|drop\\s+database|select\\s+pg_(?:start_backup|"
                 "backup_start))"
                 "\\M') AS command WHERE command IS NOT NULL GROUP BY 1) AS counted",
                 schema),
        context);
}

static void walsizer_gather_by_sql(walsizer::AdviceFacts* facts) {
    MemoryContext context = CurrentMemoryContext;
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "walsizer: SPI_connect failed");
    const char* lz4 = walsizer_ask(
        "SELECT 1 FROM pg_settings WHERE name = 'wal_compression' AND 'lz4' = ANY (enumvals)", context);
    // Storage that applies WAL by itself shows in what its provider added to PostgreSQL.
    const char* storage = walsizer_ask(
        "SELECT CASE WHEN EXISTS (SELECT FROM pg_proc WHERE proname = 'aurora_version') THEN 'Amazon Aurora' "
        "WHEN EXISTS (SELECT FROM pg_settings WHERE name LIKE 'neon.%') THEN 'Neon' "
        "WHEN EXISTS (SELECT FROM pg_settings WHERE name LIKE 'alloydb.%') THEN 'AlloyDB' END",
        context);
    const char* backups =
        walsizer_ask("SELECT nullif(count(*), 0) FROM pg_stat_progress_basebackup", context);
    const char* counted = walsizer_counted_statements(context);
    SPI_finish();
    facts->has_lz4 = lz4 != NULL;
    if (storage != NULL) facts->storage.Set("%s", storage);
    if (backups != NULL) facts->requesters.Set("base backups running now: %s", backups);
    if (counted != NULL)
        facts->requesters.Append("%spg_stat_statements counts %s", backups != NULL ? "; " : "", counted);
}

// In the session's time zone. Raises nothing.
static walsizer::ShortText walsizer_time_text(walsizer::Timestamp at) noexcept {
    walsizer::ShortText text;
    char buffer[32];
    const pg_time_t seconds = timestamptz_to_time_t(at);
    const struct pg_tm* local = pg_localtime(&seconds, session_timezone);
    if (local != NULL && pg_strftime(buffer, sizeof(buffer), "%d %b %H:%M", local) > 0)
        text.Set("%s", buffer[0] == '0' ? buffer + 1 : buffer);
    return text;
}

void walsizer_gather_facts(const WalsizerJournalCopy& copy, const walsizer::Journal& journal,
                           walsizer::AdviceFacts* facts) {
    facts->server.max_wal_size = max_wal_size_mb * walsizer::kMiB;
    facts->server.segment_size = wal_segment_size;
    facts->server.completion_target = CheckPointCompletionTarget;
    facts->server.checkpoint_timeout = CheckPointTimeout * walsizer::kSecond;
    facts->in_recovery = RecoveryInProgress();
    facts->backend_writes_exact = walsizer_backend_writes_are_exact;
    facts->backend_fsyncs_exact = walsizer_backend_fsyncs_are_exact;
    facts->fpi_bytes_exact = walsizer_fpi_bytes_are_exact;
    facts->wal_minimal = !XLogIsNeeded();
    facts->now = GetCurrentTimestamp();
    facts->time_text = walsizer_time_text;
    walsizer_gather_settings(facts);
    walsizer_gather_by_sql(facts);
    if (!copy.tuner.tracker().started()) return;
    facts->journal = &journal;
    facts->need = copy.tuner.need(journal).size;
    facts->ceiling = copy.tuner.ceiling().size;
    facts->volume = copy.tuner.volume();
    facts->can_shrink = copy.tuner.ShrinkRefusal(journal).empty();
    walsizer::FillActivity(journal, &copy.open_window, *facts);
}
