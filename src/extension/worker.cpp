#include "worker.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <new>

#include "apply.hpp"
#include "config_files.hpp"
#include "observe.hpp"
#include "recovery_watch.hpp"
#include "settings.hpp"
#include "shared_state.hpp"
#include "state_file.hpp"

void walsizer_register_worker() {
    BackgroundWorker worker;
    memset((void*)&worker, 0, sizeof(worker));
    // A database connection without a database: ALTER SYSTEM looks into pg_authid, which is shared.
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_ConsistentState;
    worker.bgw_restart_time = 1;
    snprintf(worker.bgw_library_name, sizeof(worker.bgw_library_name), "walsizer");
    snprintf(worker.bgw_function_name, sizeof(worker.bgw_function_name), "walsizer_worker_main");
    snprintf(worker.bgw_name, sizeof(worker.bgw_name), "walsizer");
    snprintf(worker.bgw_type, sizeof(worker.bgw_type), "walsizer");
    RegisterBackgroundWorker(&worker);
}

static void walsizer_leave(int, Datum) {
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    if (walsizer_shared->worker_pid == MyProcPid) {
        walsizer_shared->worker_pid = 0;
        walsizer_shared->worker_latch = NULL;
    }
    LWLockRelease(walsizer_shared->lock);
}

static void walsizer_log(const walsizer::Orders& orders) {
    for (unsigned i = 0; i < orders.log_count; i++) {
        const walsizer::LogLine& line = orders.log[i];
        ereport(line.warning ? WARNING : LOG,
                (errmsg_internal("%s", line.message.c_str()),
                 line.detail.empty() ? 0 : errdetail_internal("%s", line.detail.c_str()),
                 line.hint.empty() ? 0 : errhint("%s", line.hint.c_str())));
    }
}

static void walsizer_change_failed(const char* error, const char* hint) {
    walsizer::Orders orders;
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer::Journal journal = walsizer_journal();
    walsizer_shared->tuner.ChangeFailed(error, hint, journal, orders);
    LWLockRelease(walsizer_shared->lock);
    walsizer_log(orders);
    walsizer_save_history();
}

// Before the first change: what undo() is to put back, for the history file and for the log.
static bool walsizer_secure_original(walsizer::Orders& orders) {
    const walsizer::Original original = walsizer_read_original(max_wal_size_mb * walsizer::kMiB);
    if (!original.known) return false;
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer_shared->tuner.RememberOriginal(original);
    LWLockRelease(walsizer_shared->lock);
    walsizer::Text<256>& detail = orders.log[0].detail;
    if (original.had_line)
        detail.Set(
            "Before it postgresql.auto.conf said max_wal_size = '%s'; SELECT walsizer.undo() puts that back.",
            original.text.c_str());
    else
        detail.Set(
            "Before it postgresql.auto.conf had no line for max_wal_size; SELECT walsizer.undo() removes it "
            "again.");
    return true;
}

static walsizer::Obstacle walsizer_find_any_obstacle() {
    const walsizer::Obstacle obstacle = walsizer_find_obstacle();
    return obstacle.what.empty() ? walsizer_find_pending_edit() : obstacle;
}

// The last change was not tried because of an obstacle, or for want of a history file: look now and then
// whether that has ended.
static bool waits_for_obstacle = false;
static bool waits_for_history = false;

// Intent on disk, ALTER SYSTEM, reload; the outcome shows at the next looks.
static void walsizer_carry_out(walsizer::Orders& orders) {
    const bool change = orders.change != walsizer::Change::kNone;
    bool secured = true;
    if (orders.change == walsizer::Change::kSet && walsizer_shared->tuner.NeedsOriginal())
        secured = walsizer_secure_original(orders);
    walsizer_log(orders);
    const bool saved = !orders.save || walsizer_save_history();
    if (!change) return;

    walsizer::Text<256> error;
    walsizer::Text<256> hint;
    const walsizer::Obstacle obstacle = walsizer_find_any_obstacle();
    waits_for_obstacle = !obstacle.what.empty();
    waits_for_history = !saved;
    if (waits_for_obstacle)
        walsizer_change_failed(obstacle.what.c_str(), obstacle.hint.c_str());
    else if (!secured)
        walsizer_change_failed("postgresql.auto.conf cannot be read or parsed",
                               "Mend the line that the server log names, then run SELECT pg_reload_conf().");
    else if (!saved)
        walsizer_change_failed("its history file cannot be written, so an undo() would not be safe",
                               "See the server log for the reason: the disk may be full.");
    else if (!walsizer_apply(orders, walsizer_shared->tuner.original(), &error, &hint))
        walsizer_change_failed(error.c_str(), hint.c_str());
}

// After the start and after each reload.
static void walsizer_note_configuration(bool just_loaded) {
    walsizer_remember_files(just_loaded);
    waits_for_obstacle = waits_for_history = false;
    const walsizer::Obstacle obstacle = walsizer_find_obstacle();
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer_shared->tuner.SetObstacle(obstacle);
    walsizer_shared->tuner.ConfigurationReloaded();
    LWLockRelease(walsizer_shared->lock);
}

// What the files say of max_wal_size apart from walsizer's own line. Needs a first look.
static void walsizer_note_file_value() {
    walsizer::Text<200> where;
    const walsizer::Bytes size = walsizer_file_max_wal_size(&where);
    if (size == 0) return;
    walsizer::Orders orders;
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer::Journal journal = walsizer_journal();
    walsizer_shared->tuner.NoticeFile(size, where.c_str(), journal, orders);
    LWLockRelease(walsizer_shared->lock);
    walsizer_carry_out(orders);
}

static void walsizer_recheck_obstacle(walsizer::Micros now) {
    static walsizer::Micros checked_at = 0;
    if ((!waits_for_obstacle && !waits_for_history) || now - checked_at < 10 * walsizer::kSecond) return;
    checked_at = now;
    if (!walsizer_find_any_obstacle().what.empty() || (waits_for_history && !walsizer_save_history())) return;
    waits_for_obstacle = waits_for_history = false;
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer_shared->tuner.ConfigurationReloaded();
    LWLockRelease(walsizer_shared->lock);
}

static walsizer::Identity walsizer_identity() {
    walsizer::Identity identity;
    struct stat status;
    identity.system_identifier = GetSystemIdentifier();
    identity.directory_inode = stat(".", &status) == 0 ? status.st_ino : 0;
    identity.data_directory.Set("%s", DataDir);
    return identity;
}

// Shared memory is fresh after a start or a crash; after a restart of the worker alone it still knows
// everything.
static void walsizer_begin() {
    walsizer::TunerMemory memory;
    walsizer::RecoverySample sample;
    const bool fresh = !walsizer_shared->loaded;
    const bool recovered = fresh && walsizer_measure_recovery(walsizer_shared->recovery_start, &sample);
    const walsizer::Identity identity = walsizer_identity();
    bool inherited = false;
    if (fresh) walsizer_load_history(&memory);
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    if (fresh) {
        new (&walsizer_shared->tuner) walsizer::Tuner();
        walsizer_shared->tuner.Remember(memory);
        inherited = walsizer_shared->tuner.Identify(identity);
        if (recovered) walsizer_shared->tuner.LearnRecovery(sample);
        if (walsizer_shared->totals.stats_reset == 0)
            walsizer_shared->totals.stats_reset = GetCurrentTimestamp();
        walsizer_shared->loaded = true;
    }
    walsizer_shared->worker_pid = MyProcPid;
    walsizer_shared->worker_latch = MyLatch;
    LWLockRelease(walsizer_shared->lock);
    before_shmem_exit(walsizer_leave, (Datum)0);
    // What was learned must not wait for the next decision: another crash may come first.
    if (recovered) walsizer_save_history();
    if (inherited)
        ereport(LOG, (errmsg("walsizer's history was written elsewhere (\"%s\"): this server is a copy",
                             memory.identity.data_directory.c_str()),
                      errdetail("The journal is kept as inherited; learned replay rates are dropped.")));
    walsizer_note_configuration(false);
}

static walsizer::Micros walsizer_look(bool first) {
    const bool was_settled = walsizer_shared->tuner.Settled();
    const walsizer::Observation seen = walsizer_observe(first);
    const walsizer::TunerSettings settings = walsizer_settings();
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer::Journal journal = walsizer_journal();
    walsizer::Orders orders = walsizer_shared->tuner.Look(seen, settings, journal);
    walsizer_shared->sampled_at = seen.wall;
    LWLockRelease(walsizer_shared->lock);
    walsizer_carry_out(orders);
    walsizer_recheck_obstacle(seen.now);
    // An edit that came while a change was under way waits until here.
    if (!was_settled && walsizer_shared->tuner.Settled()) walsizer_note_file_value();
    return orders.next_look;
}

// One line at start: value, source, ceiling and why.
static void walsizer_announce() {
    char source[MAXPGPATH + 32];
    walsizer_describe_source(source, sizeof(source));
    const walsizer::Tuner& tuner = walsizer_shared->tuner;
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Ceiling ceiling = tuner.ceiling();
    const char* state = walsizer::Name(tuner.state());
    walsizer::Reason reason = tuner.StateReason(walsizer_journal());
    LWLockRelease(walsizer_shared->lock);
    ereport(LOG,
            (errmsg("walsizer %s starts: max_wal_size is %s (%s), its ceiling %s (%s), state %s",
                    WALSIZER_VERSION, walsizer::SizeText(max_wal_size_mb * walsizer::kMiB).c_str(), source,
                    walsizer::SizeText(ceiling.size).c_str(), walsizer::Name(ceiling.governs), state),
             errdetail_internal("%s", reason.c_str())));
}

// Serves the oldest waiting request. True when one was answered. It waits its turn while a change is under
// way, and is itself answered when its outcome is known.
static bool walsizer_serve_request() {
    WalsizerShared* shared = walsizer_shared;
    walsizer::Orders orders;
    LWLockAcquire(shared->lock, LW_EXCLUSIVE);
    if (shared->tickets_served == shared->tickets_drawn) {
        LWLockRelease(shared->lock);
        return false;
    }
    WalsizerRequest& request = shared->requests[shared->tickets_served % WalsizerShared::kTickets];
    const bool fresh = request.result.empty();
    walsizer::Journal journal = walsizer_journal();
    if (fresh) request.result = shared->tuner.Execute(request.command, journal, orders);
    LWLockRelease(shared->lock);
    if (fresh) walsizer_carry_out(orders);

    LWLockAcquire(shared->lock, LW_EXCLUSIVE);
    const bool settled = !request.result.empty() && shared->tuner.Settled();
    if (settled) {
        request.done = true;
        shared->tickets_served++;
    }
    LWLockRelease(shared->lock);
    if (settled) ConditionVariableBroadcast(&shared->answered);
    return settled;
}

// The server stops, or somebody terminated the worker: exit code 1 lets the postmaster start it again.
static void walsizer_stop() {
    LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
    walsizer::Journal journal = walsizer_journal();
    walsizer_shared->tuner.Stop(journal);
    LWLockRelease(walsizer_shared->lock);
    walsizer_save_history();
    proc_exit(1);
}

void walsizer_worker_main(Datum) {
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
    walsizer_ignore_signal(SIGINT);  // pg_cancel_backend(): there is no statement to cancel
    BackgroundWorkerUnblockSignals();
    BackgroundWorkerInitializeConnection(NULL, NULL, 0);
    walsizer_read_statistics_singly();
    MemoryContext per_look = AllocSetContextCreate(TopMemoryContext, "walsizer look", ALLOCSET_DEFAULT_SIZES);
    MemoryContextSwitchTo(per_look);

    walsizer_begin();
    const bool fresh = !walsizer_shared->tuner.tracker().started();
    walsizer::Micros next_look = walsizer_look(fresh);
    walsizer_note_file_value();
    walsizer_announce();

    while (!ShutdownRequestPending) {
        while (walsizer_serve_request()) {
        }
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                        Max((long)(next_look / walsizer::kMillisecond), 1L), walsizer_wait_event());
        ResetLatch(MyLatch);
        // Part of ProcSignal barriers: DROP DATABASE waits for it.
        CHECK_FOR_INTERRUPTS();
        if (ConfigReloadPending) {
            ConfigReloadPending = false;
            ProcessConfigFile(PGC_SIGHUP);
            walsizer_note_configuration(true);
            walsizer_note_file_value();
        }
        next_look = walsizer_look(false);
        MemoryContextReset(per_look);
    }
    walsizer_stop();
}
