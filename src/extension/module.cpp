#include "module.hpp"

#include "settings.hpp"
#include "shared_state.hpp"
#include "worker.hpp"

extern "C" {
WALSIZER_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);
}

const char* walsizer_inactive_reason = NULL;

// pg_walsizer defines the same settings, and a setting defined twice is FATAL at start, whichever comes
// first.
static const char* const rival = "pg_walsizer";

static bool walsizer_names_rival(const char* library) {
    const char* name = last_dir_separator(library);
    name = name == NULL ? library : name + 1;
    const size_t length = strlen(rival);
    return strncmp(name, rival, length) == 0 && (name[length] == '\0' || strcmp(name + length, ".so") == 0);
}

static bool walsizer_rival_is_preloaded() {
    if (shared_preload_libraries_string == NULL) return false;
    bool found = false;
    List* libraries = NIL;
    char* copy = pstrdup(shared_preload_libraries_string);
    if (SplitDirectoriesString(copy, ',', &libraries)) {
        ListCell* cell;
        foreach (cell, libraries) found = found || walsizer_names_rival((const char*)lfirst(cell));
    }
    list_free_deep(libraries);
    pfree(copy);
    return found;
}

void _PG_init(void) {
    // Loaded by a query: the functions will say what is missing.
    if (!process_shared_preload_libraries_in_progress) return;
    if (walsizer_rival_is_preloaded()) {
        walsizer_inactive_reason =
            "both walsizer and pg_walsizer are in shared_preload_libraries; two tuners must not change "
            "max_wal_size";
        ereport(WARNING,
                (errmsg("walsizer stays inactive: %s", walsizer_inactive_reason),
                 errhint("Remove pg_walsizer from shared_preload_libraries and restart the server.")));
        return;
    }
    walsizer_define_settings();
    walsizer_request_shared_memory(walsizer_history_size());
    // pg_upgrade starts the servers with -b: they must change nothing.
    if (!IsBinaryUpgrade) walsizer_register_worker();
}

void walsizer_require_active() {
    if (walsizer_inactive_reason != NULL)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("walsizer is inactive: %s", walsizer_inactive_reason),
                        errhint("Remove pg_walsizer from shared_preload_libraries and restart the server.")));
    if (walsizer_shared == NULL)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("walsizer is not preloaded"),
             errhint("Put shared_preload_libraries = 'walsizer' into postgresql.conf (append it to what the "
                     "list holds) and restart the server.")));
}
