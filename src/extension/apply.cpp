#include "apply.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

// The file's name relative to the data directory, where the worker stands.
static const char* const auto_conf = PG_AUTOCONF_FILENAME;

walsizer::Original walsizer_read_original(walsizer::Bytes size) {
    walsizer::Original original;
    original.size = size;
    ConfigVariable* head = NULL;
    ConfigVariable* tail = NULL;
    const bool parsed = ParseConfigFile(auto_conf, /* strict */ false, /* calling_file */ NULL,
                                        /* calling_lineno */ 0, /* depth */ 0, LOG, &head, &tail);
    if (!parsed) return original;
    original.known = true;
    for (const ConfigVariable* item = head; item != NULL; item = item->next) {
        if (pg_strcasecmp(item->name, "max_wal_size") != 0) continue;
        original.had_line = true;  // the last line wins
        original.text.Set("%s", item->value);
    }
    FreeConfigVariables(head);
    return original;
}

static void walsizer_alter_system(const char* value) {
    char statement[160];
    // The value is a number of ours, or the text of a line that PostgreSQL itself wrote.
    if (value == NULL)
        snprintf(statement, sizeof(statement), "ALTER SYSTEM RESET max_wal_size");
    else
        snprintf(statement, sizeof(statement), "ALTER SYSTEM SET max_wal_size = %s",
                 quote_literal_cstr(value));
    AlterSystemSetConfigFile((AlterSystemStmt*)walsizer_parse_one(statement));
}

// Needs a transaction for its look into pg_authid, and for the release of its lock if it fails.
static bool walsizer_alter_system_safely(const char* value, walsizer::Text<256>* error,
                                         walsizer::Text<256>* hint) {
    MemoryContext context = CurrentMemoryContext;
    volatile bool done = false;
    PG_TRY();
    {
        StartTransactionCommand();
        walsizer_alter_system(value);
        CommitTransactionCommand();
        done = true;
    }
    PG_CATCH();
    {
        MemoryContextSwitchTo(context);
        ErrorData* data = CopyErrorData();
        FlushErrorState();
        AbortCurrentTransaction();
        MemoryContextSwitchTo(context);
        error->Set("ALTER SYSTEM failed: %s", data->message != NULL ? data->message : "no message");
        hint->Set("%s", data->hint != NULL ? data->hint : "");
        FreeErrorData(data);
    }
    PG_END_TRY();
    MemoryContextSwitchTo(context);
    return done;
}

bool walsizer_apply(const walsizer::Orders& orders, const walsizer::Original& original,
                    walsizer::Text<256>* error, walsizer::Text<256>* hint) {
    char value[64];
    const char* text = value;
    if (orders.change == walsizer::Change::kRestore)
        text = original.had_line ? original.text.c_str() : NULL;
    else
        snprintf(value, sizeof(value), "%lldMB", (long long)(orders.size / walsizer::kMiB));
    if (!walsizer_alter_system_safely(text, error, hint)) {
        if (hint->empty())
            hint->Set(
                "Put max_wal_size where this server is configured; SELECT walsizer.recommend() gives the "
                "line.");
        return false;
    }
    CHECK_FOR_INTERRUPTS();
    if (kill(PostmasterPid, SIGHUP) != 0) {
        error->Set("could not signal the postmaster to reload: %s", strerror(errno));
        hint->Set("Reload the configuration by hand: SELECT pg_reload_conf().");
        return false;
    }
    return true;
}

walsizer::Obstacle walsizer_find_obstacle() {
    walsizer::Obstacle obstacle;
    const struct config_generic* setting = walsizer_find_setting("max_wal_size");
    if (setting != NULL && setting->source >= PGC_S_ARGV) {
        obstacle.what.Set("max_wal_size is set on the server's command line");
        obstacle.hint.Set(
            "Set it where the server's command line sets it now, or remove it there; ALTER SYSTEM cannot "
            "override the command line.");
        return obstacle;
    }
    if (!walsizer_alter_system_is_allowed()) {
        obstacle.what.Set("ALTER SYSTEM is not allowed in this server (allow_alter_system is off)");
        obstacle.hint.Set(
            "Put max_wal_size where this server is configured; SELECT walsizer.recommend('conf') gives "
            "the line.");
        return obstacle;
    }
    struct stat status;
    if (lstat(auto_conf, &status) == 0 && !S_ISREG(status.st_mode)) {
        obstacle.what.Set("%s is not a regular file", auto_conf);
        obstacle.hint.Set(
            "ALTER SYSTEM would replace it. Put max_wal_size where this server is configured; SELECT "
            "walsizer.recommend('conf') gives the line.");
    } else if (access(auto_conf, W_OK) != 0 || access(".", W_OK) != 0) {
        obstacle.what.Set("%s cannot be written: %s", auto_conf, strerror(errno));
        obstacle.hint.Set(
            "If that is meant, put max_wal_size where this server is configured; SELECT "
            "walsizer.recommend('conf') gives the line. Else make the file and its directory writable.");
    }
    return obstacle;
}

void walsizer_describe_source(char* buffer, size_t size) {
    const struct config_generic* setting = walsizer_find_setting("max_wal_size");
    if (setting == NULL)
        snprintf(buffer, size, "unknown");
    else if (setting->source == PGC_S_FILE && setting->sourcefile != NULL)
        snprintf(buffer, size, "%s:%d", setting->sourcefile, setting->sourceline);
    else
        snprintf(buffer, size, "%s", GucSource_Names[setting->source]);
}
