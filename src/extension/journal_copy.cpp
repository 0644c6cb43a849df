#include "journal_copy.hpp"

template <typename Record>
static Record* walsizer_space_for(const walsizer::Ring<Record>& ring) {
    return (Record*)palloc0(sizeof(Record) * Max(ring.capacity(), 1));
}

// Oldest first, so that a ring over the copy has the same order.
template <typename Record>
static void walsizer_copy_records(const walsizer::Ring<Record>& from, Record* to, uint64* written) {
    const uint32 count = from.size();
    for (uint32 age = 0; age < count; age++)
        memcpy((void*)&to[count - 1 - age], &from.Newest(age), sizeof(Record));
    *written = count;
}

WalsizerJournalCopy* walsizer_copy_journal() {
    WalsizerJournalCopy* copy = (WalsizerJournalCopy*)palloc0(sizeof(WalsizerJournalCopy));
    walsizer::Journal journal = walsizer_journal();
    copy->decisions = walsizer_space_for(journal.decisions);
    copy->windows = walsizer_space_for(journal.windows);
    copy->checkpoints = walsizer_space_for(journal.checkpoints);
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    if (walsizer_shared->loaded) {
        walsizer_copy_records(journal.decisions, copy->decisions, &copy->written[0]);
        walsizer_copy_records(journal.windows, copy->windows, &copy->written[1]);
        walsizer_copy_records(journal.checkpoints, copy->checkpoints, &copy->written[2]);
        copy->totals = walsizer_shared->totals;
        memcpy((void*)&copy->tuner, &walsizer_shared->tuner, sizeof(copy->tuner));
        copy->watching = walsizer_shared->worker_pid != 0 && copy->tuner.tracker().started();
        if (copy->tuner.tracker().started()) {
            copy->open_window = copy->tuner.tracker().WindowSoFar();
            copy->open_window_due = copy->tuner.tracker().open_window_due();
        }
    }
    LWLockRelease(walsizer_shared->lock);
    return copy;
}

walsizer::Journal walsizer_view(WalsizerJournalCopy* copy) {
    const walsizer::Journal shared = walsizer_journal();
    return {{copy->decisions, shared.decisions.capacity(), &copy->written[0]},
            {copy->windows, shared.windows.capacity(), &copy->written[1]},
            {copy->checkpoints, shared.checkpoints.capacity(), &copy->written[2]},
            copy->totals};
}
