#include "recovery_watch.hpp"

#include <sys/stat.h>

#include "observe.hpp"

static bool walsizer_file_exists(const char* path) {
    struct stat status;
    return stat(path, &status) == 0;
}

WalsizerRecoveryStart walsizer_note_recovery_start() {
    WalsizerRecoveryStart start = {};
    // Replay from a backup label, or under a signal file, is no crash recovery; the files are gone
    // afterwards.
    if (walsizer_file_exists("backup_label") || walsizer_file_exists("recovery.signal") ||
        walsizer_file_exists("standby.signal"))
        return start;
    MemoryContext context = CurrentMemoryContext;
    PG_TRY();
    {
        bool crc_ok = false;
        ControlFileData* control = get_controlfile(DataDir, &crc_ok);
        start.crashed =
            crc_ok && control->state != DB_SHUTDOWNED && control->state != DB_SHUTDOWNED_IN_RECOVERY;
        start.redo = control->checkPointCopy.redo;
        pfree(control);
    }
    PG_CATCH();
    {
        // The server itself will say what is wrong with its control file.
        MemoryContextSwitchTo(context);
        FlushErrorState();
        start.crashed = false;
    }
    PG_END_TRY();
    start.at = walsizer_monotonic_clock();
    return start;
}

bool walsizer_measure_recovery(const WalsizerRecoveryStart& start, walsizer::RecoverySample* sample) {
    if (!start.crashed || RecoveryInProgress()) return false;
    // The end-of-recovery checkpoint's redo point is where replay ended.
    const XLogRecPtr end = GetRedoRecPtr();
    if (end <= start.redo) return false;
    sample->bytes = (walsizer::Bytes)(end - start.redo);
    sample->time = walsizer_monotonic_clock() - start.at;
    return true;
}
