#include "settings.hpp"

#include "walsizer/journal.hpp"

static bool enable = true;
static bool dry_run = false;
static bool anticipate = true;
static bool tune_standby = true;
static int max_mb = 16384;
static int threshold = 2;
static double target_ratio = 0.10;
static int history_size = 3000;
static int disk_reserve_mb = -1;
static int max_recovery_time_s = 300;
static int replay_rate_mb = 0;
static int shrink_after_s = 0;

static void walsizer_define_switch(const char* name, const char* short_description,
                                   const char* long_description, bool* value, bool initial) {
    DefineCustomBoolVariable(name, short_description, long_description, value, initial, PGC_SIGHUP,
                             /* flags */ 0, /* check_hook */ NULL, /* assign_hook */ NULL,
                             /* show_hook */ NULL);
}

static void walsizer_define_integer(const char* name, const char* short_description,
                                    const char* long_description, int* value, int initial, int smallest,
                                    int largest, GucContext context, int flags) {
    DefineCustomIntVariable(name, short_description, long_description, value, initial, smallest, largest,
                            context, flags, /* check_hook */ NULL, /* assign_hook */ NULL,
                            /* show_hook */ NULL);
}

void walsizer_define_settings() {
    walsizer_define_switch("walsizer.enable", "Lets walsizer change max_wal_size.",
                           "When off, walsizer watches and records, and changes nothing.", &enable, true);
    walsizer_define_switch(
        "walsizer.dry_run", "Decides without applying anything.",
        "When on, walsizer decides against a virtual max_wal_size and records what it would do.", &dry_run,
        false);
    walsizer_define_switch("walsizer.anticipate",
                           "Raises max_wal_size before a forced checkpoint that is in sight.",
                           "When off, walsizer reacts to forced checkpoints only.", &anticipate, true);
    walsizer_define_integer(
        "walsizer.max", "The ceiling for max_wal_size.",
        "walsizer never raises max_wal_size above this, and never lowers it because of this.", &max_mb, 16384,
        2, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_MB);
    walsizer_define_integer(
        "walsizer.threshold", "Forced checkpoints in one checkpoint_timeout that cause a raise at once.",
        "Only checkpoints that WAL volume forced count.", &threshold, 2, 1, 1000, PGC_SIGHUP, 0);
    DefineCustomRealVariable(
        "walsizer.target_ratio",
        "The accepted share of forced checkpoints among all over the last 12 windows.",
        "A window is checkpoint_timeout long. A larger share causes a raise at a window's end.",
        &target_ratio, 0.10, 0.0, 1.0, PGC_SIGHUP, /* flags */ 0, /* check_hook */ NULL,
        /* assign_hook */ NULL, /* show_hook */ NULL);
    walsizer_define_switch(
        "walsizer.tune_standby", "Also sizes max_wal_size while in recovery.",
        "A standby measures the WAL that it replays while streaming, so that it starts right when "
        "it is promoted.",
        &tune_standby, true);
    walsizer_define_integer(
        "walsizer.disk_reserve", "Space on pg_wal's volume that walsizer never plans to use.",
        "-1 reserves 20 % of the volume, at least 1 GB and at most 20 GB; 0 switches the disk "
        "ceiling off.",
        &disk_reserve_mb, -1, -1, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_MB);
    walsizer_define_integer(
        "walsizer.max_recovery_time", "The longest crash recovery that max_wal_size may cost.",
        "It stops growth where replaying all of max_wal_size would take longer, and never lowers; 0 "
        "switches this ceiling off.",
        &max_recovery_time_s, 300, 0, 7 * 86400, PGC_SIGHUP, GUC_UNIT_S);
    walsizer_define_integer(
        "walsizer.replay_rate", "WAL replayed in crash recovery, in megabytes per second.",
        "0 learns it from the recoveries of this server; until one was seen, 64 is assumed.", &replay_rate_mb,
        0, 0, 1000000, PGC_SIGHUP, 0);
    walsizer_define_integer(
        "walsizer.shrink_after", "Gives growth back after it was not needed for this long.",
        "The need must have stayed far below max_wal_size; only walsizer's own growth is given back. "
        "0 never shrinks.",
        &shrink_after_s, 0, 0, 366 * 86400, PGC_SIGHUP, GUC_UNIT_S);
    walsizer_define_integer("walsizer.history_size", "Windows kept in walsizer.windows.",
                            "A window is checkpoint_timeout long; 3000 of them are 10 days at 5 minutes.",
                            &history_size, 3000, (int)walsizer::kRecentWindows, 100000, PGC_POSTMASTER, 0);
    walsizer_reserve_prefix("walsizer");
}

walsizer::TunerSettings walsizer_settings() {
    walsizer::TunerSettings settings;
    settings.enable = enable;
    settings.dry_run = dry_run;
    settings.anticipate = anticipate;
    settings.max = max_mb * walsizer::kMiB;
    settings.threshold = threshold;
    settings.target_ratio = target_ratio;
    settings.tune_standby = tune_standby;
    settings.disk_reserve = disk_reserve_mb < 0 ? -1 : disk_reserve_mb * walsizer::kMiB;
    settings.max_recovery_time = max_recovery_time_s * walsizer::kSecond;
    settings.replay_rate = (double)replay_rate_mb * walsizer::kMiB;
    settings.shrink_after = shrink_after_s * walsizer::kSecond;
    return settings;
}

uint32 walsizer_history_size() {
    return (uint32)history_size;
}
