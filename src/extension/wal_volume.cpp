// Held WAL is found the way the server would remove it: at the end of a checkpoint every segment older than
// the redo point goes, whatever its timeline (xlog.c:RemoveOldXlogFiles()), unless somebody still needs it
// (KeepLogSeg(), xlogarchive.c:XLogArchiveCheckDone()). What a holder has let go of stays until the next
// checkpoint ends; until then it is held WAL without a holder, and so is, while a checkpoint removes it, the
// WAL of a whole cycle.
#include "wal_volume.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "wal_directory.hpp"

namespace {

// The last completed checkpoint or restartpoint.
struct Checkpoint {
    XLogRecPtr redo = InvalidXLogRecPtr;
    XLogSegNo redo_segment = 0;
    XLogSegNo record_segment =
        0;  // where its record stands: wal_keep_size and its like count back from there
};

// Somebody who needs the segments from `from` on; 0 is nobody.
struct Claim {
    walsizer::Holder holder = walsizer::Holder::kNone;
    XLogSegNo from = 0;
    bool bounded = true;
    decltype(walsizer::HeldWal::name) name;
};

struct Claims {
    Claim oldest;     // explains the oldest segment there is; of two the one that has no bound
    Claim unbounded;  // the oldest of those

    void Add(Claim claim, const WalsizerSegments& segments) noexcept {
        if (claim.from == 0 || claim.from >= segments.redo) return;
        if (claim.from < segments.oldest) claim.from = segments.oldest;
        if (oldest.from == 0 || claim.from < oldest.from ||
            (claim.from == oldest.from && oldest.bounded && !claim.bounded))
            oldest = claim;
        if (!claim.bounded && (unbounded.from == 0 || claim.from < unbounded.from)) unbounded = claim;
    }
};

}  // namespace

// As get_controlfile(), which raises an ERROR when it cannot. A reading in the middle of a write shows in the
// checksum.
static bool walsizer_read_control_file(ControlFileData* control) {
    const int file = open(XLOG_CONTROL_FILE, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t length = read(file, (void*)control, sizeof(*control));
    const int reason = length < 0 ? errno : EIO;
    close(file);
    errno = reason;
    if (length != (ssize_t)sizeof(*control)) return false;
    pg_crc32c crc;
    INIT_CRC32C(crc);
    COMP_CRC32C(crc, (const char*)control, offsetof(ControlFileData, crc));
    FIN_CRC32C(crc);
    return EQ_CRC32C(crc, control->crc);
}

// Shared memory has the redo point of a checkpoint from its start on, the control file when it is complete.
static bool walsizer_last_checkpoint(Checkpoint* checkpoint) {
    static Checkpoint last;
    if (last.redo == InvalidXLogRecPtr || last.redo != GetRedoRecPtr()) {
        ControlFileData control;
        if (walsizer_read_control_file(&control) || walsizer_read_control_file(&control)) {
            last.redo = control.checkPointCopy.redo;
            XLByteToSeg(control.checkPointCopy.redo, last.redo_segment, wal_segment_size);
            XLByteToSeg(control.checkPoint, last.record_segment, wal_segment_size);
        } else if (last.redo == InvalidXLogRecPtr) {
            walsizer_cannot_read(XLOG_CONTROL_FILE);
            return false;
        }
    }
    *checkpoint = last;
    return true;
}

// The segment `size_mb` before the end of the checkpoint. In recovery the server counts from the end of
// received WAL instead, so this is the cautious side.
static XLogSegNo walsizer_segment_before(const Checkpoint& checkpoint, int size_mb) {
    const XLogSegNo kept = XLogMBVarToSegs(size_mb, wal_segment_size);
    return checkpoint.record_segment > kept ? checkpoint.record_segment - kept : 1;
}

static Claim walsizer_slot_claim(const Checkpoint& checkpoint) {
    XLogRecPtr position = InvalidXLogRecPtr;
    NameData name;
    LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
    for (int i = 0; i < walsizer_slot_capacity(); i++) {
        ReplicationSlot* slot = &ReplicationSlotCtl->replication_slots[i];
        if (!slot->in_use) continue;
        SpinLockAcquire(&slot->mutex);
        const XLogRecPtr needed = walsizer_slot_position(slot);
        const NameData slot_name = slot->data.name;
        SpinLockRelease(&slot->mutex);
        if (needed == InvalidXLogRecPtr || (position != InvalidXLogRecPtr && needed >= position)) continue;
        position = needed;
        name = slot_name;
    }
    LWLockRelease(ReplicationSlotControlLock);

    Claim claim;
    if (position == InvalidXLogRecPtr) return claim;
    claim.holder = walsizer::Holder::kSlot;
    claim.bounded = max_slot_wal_keep_size_mb >= 0;
    XLByteToSeg(position, claim.from, wal_segment_size);
    if (claim.bounded)
        claim.from = Max(claim.from, walsizer_segment_before(checkpoint, max_slot_wal_keep_size_mb));
    claim.name.Set("replication slot %s", NameStr(name));
    return claim;
}

static Claim walsizer_keep_size_claim(const Checkpoint& checkpoint) {
    Claim claim;
    if (wal_keep_size_mb <= 0) return claim;
    claim.holder = walsizer::Holder::kKeepSize;
    claim.from = walsizer_segment_before(checkpoint, wal_keep_size_mb);
    claim.name.Set("wal_keep_size");
    return claim;
}

static Claim walsizer_summarizer_claim() {
    Claim claim;
    const XLogRecPtr position = walsizer_summarized_position();
    if (position == InvalidXLogRecPtr) return claim;
    claim.holder = walsizer::Holder::kSummarizer;
    claim.bounded = false;
    XLByteToSeg(position, claim.from, wal_segment_size);
    claim.name.Set("WAL summarizer");
    return claim;
}

static Claim walsizer_archiver_claim(const WalsizerSegments& segments) {
    Claim claim;
    WalsizerUnarchived unarchived;
    if (RecoveryInProgress() ? !XLogArchivingAlways() : !XLogArchivingActive()) return claim;
    const bool known = walsizer_read_unarchived(segments.oldest, &unarchived);
    if (known && unarchived.count == 0) return claim;
    claim.holder = walsizer::Holder::kArchiver;
    claim.bounded = false;
    // Not known is the worse of the two.
    claim.from = known ? unarchived.oldest : segments.oldest;
    claim.name.Set("archiver (archive_status cannot be read)");
    if (!known) return claim;
    claim.name.Set("archiver (" UINT64_FORMAT " segment%s not archived, oldest %s)", unarchived.count,
                   unarchived.count == 1 ? "" : "s", unarchived.oldest_name);
    return claim;
}

static void walsizer_find_holder(const Checkpoint& checkpoint, const WalsizerSegments& segments,
                                 walsizer::HeldWal* held) {
    Claims claims;
    held->bytes = segments.held;
    if (segments.oldest == 0) return;
    claims.Add(walsizer_slot_claim(checkpoint), segments);
    claims.Add(walsizer_keep_size_claim(checkpoint), segments);
    claims.Add(walsizer_summarizer_claim(), segments);
    claims.Add(walsizer_archiver_claim(segments), segments);
    if (claims.oldest.from == 0) return;
    held->holder = claims.oldest.holder;
    held->bounded = claims.unbounded.from == 0;
    held->name = claims.oldest.name;
    // Named first is who needs the oldest; one who may grow without bound must not go unnamed beside it.
    if (!held->bounded && claims.oldest.bounded) held->name.Append(" and %s", claims.unbounded.name.c_str());
    // The server is removing what nobody needs any more: that is not the holder's.
    if (claims.oldest.from == segments.oldest) return;
    const walsizer::Bytes needed = (walsizer::Bytes)(segments.redo - claims.oldest.from) * wal_segment_size;
    held->bytes = Min(held->bytes, needed);
}

walsizer::VolumeFacts walsizer_read_volume() {
    walsizer::VolumeFacts facts;
    Checkpoint checkpoint;
    WalsizerSegments segments;
    struct statvfs volume;
    if (!walsizer_last_checkpoint(&checkpoint)) return facts;
    CHECK_FOR_INTERRUPTS();
    if (!walsizer_read_segments(checkpoint.redo_segment, &segments)) return facts;
    CHECK_FOR_INTERRUPTS();
    // After the directory: what was written in between is then missing, not counted twice.
    if (statvfs(XLOGDIR, &volume) != 0) {
        walsizer_cannot_read(XLOGDIR);
        return facts;
    }
    CHECK_FOR_INTERRUPTS();
    facts.known = true;
    facts.size = (walsizer::Bytes)volume.f_blocks * (walsizer::Bytes)volume.f_frsize;
    facts.free = (walsizer::Bytes)volume.f_bavail * (walsizer::Bytes)volume.f_frsize;
    facts.wal_dir_size = segments.size;
    walsizer_find_holder(checkpoint, segments, &facts.held);
    return facts;
}
