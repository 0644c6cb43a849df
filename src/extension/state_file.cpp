#include "state_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const history_file = "pg_stat/walsizer.history";
static const char* const temporary_file = "pg_stat/walsizer.history.tmp";
static const char* const damaged_file = "pg_stat/walsizer.history.damaged";
static constexpr int kept_damaged_files = 10;

// Checked in this order: magic, format, length, checksum. A file of the other byte order fails at the magic.
struct FileHead {
    static constexpr uint32 kMagic = 0x575A4831;  // "WZH1"
    static constexpr uint32 kFormat = 1;

    uint32 magic;
    uint32 format;
    uint64 length;  // of what follows
    pg_crc32c crc;  // of what follows
    uint32 reserved;
};

static Size walsizer_file_capacity() {
    return sizeof(FileHead) + walsizer::HistoryCapacity(walsizer_shared->window_capacity);
}

// One buffer for the worker's life: no allocation while it works.
static char* walsizer_file_buffer() {
    static char* buffer = NULL;
    if (buffer == NULL) buffer = (char*)MemoryContextAlloc(TopMemoryContext, walsizer_file_capacity());
    return buffer;
}

// A name that nothing has: whatever was set aside before stays.
static void walsizer_name_for_damaged(char* name, size_t size) {
    struct stat status;
    snprintf(name, size, "%s", damaged_file);
    for (int i = 1; i < kept_damaged_files && lstat(name, &status) == 0; i++)
        snprintf(name, size, "%s.%d", damaged_file, i);
}

static void walsizer_set_aside(const char* why) {
    char name[MAXPGPATH];
    walsizer_name_for_damaged(name, sizeof(name));
    ereport(LOG,
            (errmsg("walsizer sets aside its history file \"%s\": %s", history_file, why),
             errdetail("It is kept as \"%s\"; walsizer starts with an empty history and no longer knows what "
                       "max_wal_size was before it.",
                       name)));
    if (rename(history_file, name) != 0)
        ereport(LOG, (errcode_for_file_access(),
                      errmsg("walsizer could not rename file \"%s\": %m", history_file)));
}

// Reads the whole file into memory of the current context. -1: it could not be opened (errno). Opened without
// blocking: what lies there may be a pipe.
static ssize_t walsizer_read_file(char** content) {
    const int file = BasicOpenFile(history_file, O_RDONLY | O_NONBLOCK | PG_BINARY);
    if (file < 0) return -1;
    struct stat status;
    // A history never exceeds this by far; more is not ours, and neither is anything but a regular file.
    const off_t largest = 256 * 1024 * 1024;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > largest) status.st_size = 0;
    *content = (char*)palloc(Max(status.st_size, 1));
    ssize_t size = 0;
    while (size < status.st_size) {
        const ssize_t got = read(file, *content + size, status.st_size - size);
        if (got <= 0) break;
        size += got;
    }
    close(file);
    return size;
}

static const char* walsizer_check_file(const char* content, Size size) {
    FileHead head;
    if (size < sizeof(head)) return "it is no regular file, or too short";
    memcpy(&head, content, sizeof(head));
    if (head.magic != FileHead::kMagic) return "it is not a walsizer history of this machine's byte order";
    if (head.format != FileHead::kFormat) return "its format is another version's";
    if (head.length != size - sizeof(head)) return "its length is wrong";
    pg_crc32c crc;
    INIT_CRC32C(crc);
    COMP_CRC32C(crc, content + sizeof(head), head.length);
    FIN_CRC32C(crc);
    return EQ_CRC32C(crc, head.crc) ? NULL : "its checksum is wrong";
}

void walsizer_load_history(walsizer::TunerMemory* memory) {
    char* content = NULL;
    const ssize_t size = walsizer_read_file(&content);
    if (size < 0) {
        // What cannot be read cannot be replaced either: durable_rename() opens its target.
        if (errno != ENOENT) walsizer_set_aside(strerror(errno));
        return;
    }
    const char* damage = walsizer_check_file(content, (Size)size);
    if (damage == NULL) {
        LWLockAcquire(walsizer_shared->lock, LW_EXCLUSIVE);
        walsizer::Journal journal = walsizer_journal();
        if (!walsizer::DecodeHistory((const std::byte*)content + sizeof(FileHead), size - sizeof(FileHead),
                                     *memory, journal))
            damage = "its content makes no sense";
        LWLockRelease(walsizer_shared->lock);
    }
    pfree(content);
    if (damage != NULL) walsizer_set_aside(damage);
}

static Size walsizer_encode_file(char* buffer) {
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Journal journal = walsizer_journal();
    const Size body = walsizer::EncodeHistory(walsizer_shared->tuner.memory(), journal,
                                              (std::byte*)buffer + sizeof(FileHead),
                                              walsizer_file_capacity() - sizeof(FileHead));
    LWLockRelease(walsizer_shared->lock);
    if (body == 0) return 0;
    FileHead head = {};
    head.magic = FileHead::kMagic;
    head.format = FileHead::kFormat;
    head.length = body;
    INIT_CRC32C(head.crc);
    COMP_CRC32C(head.crc, buffer + sizeof(FileHead), body);
    FIN_CRC32C(head.crc);
    memcpy(buffer, &head, sizeof(head));
    return sizeof(FileHead) + body;
}

// Returns NULL, or what could not be done, with errno.
static const char* walsizer_write_file(const char* buffer, Size size) {
    const int file = BasicOpenFile(temporary_file, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
    if (file < 0) return "create";
    errno = 0;
    const ssize_t written = write(file, buffer, size);
    if (written != (ssize_t)size) {
        if (errno == 0) errno = ENOSPC;
        const int reason = errno;
        close(file);
        unlink(temporary_file);
        errno = reason;
        return "write";
    }
    CHECK_FOR_INTERRUPTS();
    if (pg_fsync(file) != 0) {
        const int reason = errno;
        close(file);
        errno = reason;
        return "fsync";
    }
    close(file);
    CHECK_FOR_INTERRUPTS();
    return durable_rename(temporary_file, history_file, DEBUG1) == 0 ? NULL : "rename";
}

bool walsizer_save_history() {
    static TimestampTz complained_at = 0;
    char* buffer = walsizer_file_buffer();
    const Size size = walsizer_encode_file(buffer);
    const char* failed = size == 0 ? "encode" : walsizer_write_file(buffer, size);
    if (failed == NULL) {
        complained_at = 0;
        return true;
    }
    const int reason = errno;
    const TimestampTz now = GetCurrentTimestamp();
    if (complained_at == 0 || TimestampDifferenceExceeds(complained_at, now, 3600 * 1000)) {
        complained_at = now;
        errno = reason;
        ereport(LOG, (errcode_for_file_access(),
                      errmsg("walsizer could not %s its history file \"%s\": %m", failed, temporary_file),
                      errdetail("It carries on, and changes nothing that undo() could not put back.")));
    }
    return false;
}
