#include "config_files.hpp"

#include <sys/stat.h>

struct FileSetting {
    const char* name;
    const char* value;
    const char* file;
    int line;
};

// Everything the files say, the last line of each name winning, as in a reload.
struct FileSettings {
    FileSetting* items;
    int count;
    bool parsed;
};

struct FileStamp {
    time_t modified;
    long nanoseconds;
    off_t size;
    ino_t inode;
    bool exists;
};

static const char* const auto_conf = PG_AUTOCONF_FILENAME;

// What the server runs with, in a context of its own that each reload replaces: everything, and what the
// files say of max_wal_size apart from postgresql.auto.conf, whose line hides them.
static MemoryContext remembered_context = NULL;
static FileSettings remembered = {NULL, 0, false};
static FileSetting remembered_size = {NULL, NULL, NULL, 0};
static FileStamp remembered_hba, remembered_ident;
// At the worker's start: a file that is newer than the last load, so that nobody knows what in it is loaded.
static walsizer::Text<200> unsure_file;

static FileStamp walsizer_stamp(const char* path) {
    FileStamp stamp = {};
    struct stat status;
    if (path == NULL || stat(path, &status) != 0) return stamp;
    stamp.modified = status.st_mtim.tv_sec;
    stamp.nanoseconds = status.st_mtim.tv_nsec;
    stamp.size = status.st_size;
    stamp.inode = status.st_ino;
    stamp.exists = true;
    return stamp;
}

static bool walsizer_same_stamp(const FileStamp& a, const FileStamp& b) {
    return a.exists == b.exists && a.modified == b.modified && a.nanoseconds == b.nanoseconds &&
           a.size == b.size && a.inode == b.inode;
}

static bool walsizer_newer_than_load(const char* path) {
    const FileStamp stamp = walsizer_stamp(path);
    if (!stamp.exists) return false;
    return time_t_to_timestamptz(stamp.modified) + stamp.nanoseconds / 1000 > PgReloadTime;
}

static int walsizer_compare_settings(const void* a, const void* b) {
    const FileSetting* left = (const FileSetting*)a;
    const FileSetting* right = (const FileSetting*)b;
    const int order = pg_strcasecmp(left->name, right->name);
    return order != 0 ? order : left->line - right->line;
}

// Later items win: `line` serves as the order of appearance until the duplicates are gone.
static void walsizer_keep_last(FileSettings* settings, const int* lines) {
    qsort(settings->items, settings->count, sizeof(FileSetting), walsizer_compare_settings);
    int kept = 0;
    for (int i = 0; i < settings->count; i++) {
        const bool last = i + 1 == settings->count ||
                          pg_strcasecmp(settings->items[i].name, settings->items[i + 1].name) != 0;
        if (!last) continue;
        settings->items[kept] = settings->items[i];
        settings->items[kept].line = lines[settings->items[i].line];
        kept++;
    }
    settings->count = kept;
}

// Reads postgresql.conf with its includes and, on wish, postgresql.auto.conf. Only DEBUG messages: the server
// itself logs what is wrong with its files when it reads them.
static FileSettings walsizer_parse_files(bool with_auto_conf) {
    FileSettings settings = {NULL, 0, false};
    ConfigVariable* head = NULL;
    ConfigVariable* tail = NULL;
    settings.parsed =
        ParseConfigFile(ConfigFileName, true, NULL, 0, 0, DEBUG2, &head, &tail) &&
        (!with_auto_conf || ParseConfigFile(auto_conf, false, NULL, 0, 0, DEBUG2, &head, &tail));
    int total = 0;
    for (const ConfigVariable* item = head; item != NULL; item = item->next) total++;
    settings.items = (FileSetting*)palloc0(sizeof(FileSetting) * Max(total, 1));
    int* lines = (int*)palloc0(sizeof(int) * Max(total, 1));
    for (const ConfigVariable* item = head; item != NULL; item = item->next) {
        if (item->name == NULL || item->value == NULL) continue;
        lines[settings.count] = item->sourceline;
        settings.items[settings.count] = {pstrdup(item->name), pstrdup(item->value),
                                          pstrdup(item->filename != NULL ? item->filename : "?"),
                                          settings.count};
        settings.count++;
    }
    FreeConfigVariables(head);
    walsizer_keep_last(&settings, lines);
    pfree(lines);
    return settings;
}

static const FileSetting* walsizer_lookup(const FileSettings& settings, const char* name) {
    for (int i = 0; i < settings.count; i++)
        if (pg_strcasecmp(settings.items[i].name, name) == 0) return &settings.items[i];
    return NULL;
}

// An unknown name makes a reload apply nothing at all; one with a dot is some extension's.
static const FileSetting* walsizer_find_unknown_name(const FileSettings& settings) {
    for (int i = 0; i < settings.count; i++)
        if (strchr(settings.items[i].name, '.') == NULL &&
            walsizer_find_setting(settings.items[i].name) == NULL)
            return &settings.items[i];
    return NULL;
}

static FileSetting walsizer_find_file_size() {
    static const FileSetting nothing = {NULL, NULL, NULL, 0};
    const FileSettings files = walsizer_parse_files(false);
    const FileSetting* setting = walsizer_lookup(files, "max_wal_size");
    return setting != NULL ? *setting : nothing;
}

static void walsizer_replace_remembered() {
    MemoryContext context =
        AllocSetContextCreate(TopMemoryContext, "walsizer configuration", ALLOCSET_SMALL_SIZES);
    MemoryContext before = MemoryContextSwitchTo(context);
    const FileSettings now = walsizer_parse_files(true);
    // A reload of files with an error applied nothing: the server still runs with what was remembered.
    const bool applied = now.parsed && walsizer_find_unknown_name(now) == NULL;
    const bool use = applied || remembered_context == NULL;
    if (use) {
        remembered = now;
        remembered_size = walsizer_find_file_size();
    }
    MemoryContextSwitchTo(before);
    MemoryContext unused = use ? remembered_context : context;
    if (use) remembered_context = context;
    if (unused != NULL) MemoryContextDelete(unused);
}

void walsizer_remember_files(bool just_loaded) {
    walsizer_replace_remembered();
    remembered_hba = walsizer_stamp(HbaFileName);
    remembered_ident = walsizer_stamp(IdentFileName);
    unsure_file.clear();
    if (just_loaded) return;
    const char* files[] = {ConfigFileName, auto_conf, HbaFileName, IdentFileName};
    for (const char* file : files)
        if (walsizer_newer_than_load(file)) unsure_file.Set("%s", file);
    for (int i = 0; i < remembered.count; i++)
        if (walsizer_newer_than_load(remembered.items[i].file))
            unsure_file.Set("%s", remembered.items[i].file);
}

// A reload changes nothing of a setting that waits for a restart.
static bool walsizer_reload_applies(const char* name) {
    const struct config_generic* setting = walsizer_find_setting(name);
    return setting == NULL || (setting->context != PGC_POSTMASTER && setting->context != PGC_INTERNAL);
}

static void walsizer_describe_pending(walsizer::Obstacle* obstacle, const FileSetting& edit,
                                      const char* verb) {
    obstacle->what.Set("a reload would also bring in somebody's unfinished edit: %s was %s (%s:%d)",
                       edit.name, verb, edit.file, edit.line);
    obstacle->hint.Set(
        "Finish the edit and run SELECT pg_reload_conf(), or take it back; walsizer goes on by itself.");
}

// Both lists are sorted by name: one walk finds what was added, changed and removed.
static void walsizer_compare_files(const FileSettings& now, walsizer::Obstacle* obstacle) {
    for (int i = 0; i < now.count && obstacle->what.empty(); i++) {
        const FileSetting* before = walsizer_lookup(remembered, now.items[i].name);
        if (before != NULL && strcmp(before->value, now.items[i].value) == 0) continue;
        if (walsizer_reload_applies(now.items[i].name))
            walsizer_describe_pending(obstacle, now.items[i], before == NULL ? "added" : "changed");
    }
    for (int i = 0; i < remembered.count && obstacle->what.empty(); i++) {
        if (walsizer_lookup(now, remembered.items[i].name) != NULL) continue;
        if (walsizer_reload_applies(remembered.items[i].name))
            walsizer_describe_pending(obstacle, remembered.items[i], "removed");
    }
}

walsizer::Obstacle walsizer_find_pending_edit() {
    walsizer::Obstacle obstacle;
    const char* file = NULL;
    if (!walsizer_same_stamp(remembered_hba, walsizer_stamp(HbaFileName))) file = HbaFileName;
    if (!walsizer_same_stamp(remembered_ident, walsizer_stamp(IdentFileName))) file = IdentFileName;
    if (file == NULL && !unsure_file.empty()) file = unsure_file.c_str();
    if (file != NULL) {
        obstacle.what.Set(
            "a reload would also bring in somebody's unfinished edit: %s is newer than the last load", file);
        obstacle.hint.Set(
            "Run SELECT pg_reload_conf() when the edit is finished; walsizer goes on by itself.");
        return obstacle;
    }
    const FileSettings now = walsizer_parse_files(true);
    const FileSetting* unknown = now.parsed ? walsizer_find_unknown_name(now) : NULL;
    if (!now.parsed || unknown != NULL) {
        if (unknown != NULL)
            obstacle.what.Set(
                "the configuration files have an error, so a reload would apply nothing: unknown setting "
                "%s (%s:%d)",
                unknown->name, unknown->file, unknown->line);
        else
            obstacle.what.Set("the configuration files have an error, so a reload would apply nothing");
        obstacle.hint.Set(
            "SELECT * FROM pg_file_settings WHERE error IS NOT NULL names the line; mend it, then run "
            "SELECT pg_reload_conf().");
        return obstacle;
    }
    walsizer_compare_files(now, &obstacle);
    // Hidden behind a line in postgresql.auto.conf, and an order all the same.
    const FileSetting size = walsizer_find_file_size();
    const bool same = size.value == NULL || remembered_size.value == NULL
                          ? size.value == remembered_size.value
                          : strcmp(size.value, remembered_size.value) == 0;
    if (!same && obstacle.what.empty())
        walsizer_describe_pending(&obstacle, size.value != NULL ? size : remembered_size,
                                  size.value != NULL ? "changed" : "removed");
    return obstacle;
}

walsizer::Bytes walsizer_file_max_wal_size(walsizer::Text<200>* where) {
    // xlog_internal.h: DEFAULT_MAX_WAL_SEGS segments of the default size, whatever the cluster's.
    int megabytes = 1024;
    where->Set("the files");
    if (!remembered.parsed) return 0;
    if (remembered_size.value != NULL) {
        where->Set("%s:%d", remembered_size.file, remembered_size.line);
        const char* hint = NULL;
        if (!parse_int(remembered_size.value, &megabytes, GUC_UNIT_MB, &hint)) return 0;
    }
    return megabytes * walsizer::kMiB;
}
