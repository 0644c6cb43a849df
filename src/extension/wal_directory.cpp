#include "wal_directory.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

namespace {

constexpr char kStatusDirectory[] = XLOGDIR "/archive_status";

// A dead archiver can leave 100,000 files: their names are read as seldom as keeps this share of one core.
constexpr walsizer::Micros kReadingShare = 1000;

// Unchanged directories are read again after this long all the same: sparse segments (wal_init_zero = off)
// fill up, and a network file system may show an old modification time.
constexpr walsizer::Micros kLongestTrust = walsizer::kMinute;

// A modification time has the grain of the kernel's clock: within it, a later change goes unseen.
constexpr time_t kGrainSeconds = 2;

constexpr int kEntriesPerInterruptCheck = 1024;

walsizer::Micros Clock(clockid_t clock) noexcept {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * walsizer::kSecond + now.tv_nsec / 1000;
}

// Tells whether a directory has to be read again. `basis` is what the reading was made for.
class Watch {
  public:
    bool Due(const struct stat& now_is, XLogSegNo basis) const noexcept {
        if (!read_) return true;
        const walsizer::Micros age = Clock(CLOCK_MONOTONIC) - ended_;
        if (age >= kLongestTrust) return true;
        if (age < cost_ * kReadingShare) return false;
        return !settled_ || basis != basis_ || now_is.st_dev != was_.st_dev || now_is.st_ino != was_.st_ino ||
               now_is.st_mtim.tv_sec != was_.st_mtim.tv_sec || now_is.st_mtim.tv_nsec != was_.st_mtim.tv_nsec;
    }

    // Between these two the directory is read; `was` is its state just before.
    void Begin(const struct stat& was, XLogSegNo basis) noexcept {
        read_ = false;
        settled_ = was.st_mtim.tv_sec + kGrainSeconds <= time(nullptr);
        was_ = was;
        basis_ = basis;
        cost_ = -Clock(CLOCK_PROCESS_CPUTIME_ID);
    }

    void End() noexcept {
        read_ = true;
        ended_ = Clock(CLOCK_MONOTONIC);
        cost_ += Clock(CLOCK_PROCESS_CPUTIME_ID);
    }

  private:
    bool read_ = false;
    bool settled_ = false;
    struct stat was_ = {};
    XLogSegNo basis_ = 0;
    walsizer::Micros ended_ = 0;
    walsizer::Micros cost_ = 0;  // CPU time: on a busy machine the wall clock would make readings rare
};

// What removing a file gives back: less than its length when it is sparse or the file system compresses.
walsizer::Bytes SpaceOf(const struct stat& file) noexcept {
    const walsizer::Bytes allocated = walsizer::Bytes{file.st_blocks} * 512;
    return allocated < file.st_size ? allocated : file.st_size;
}

bool StartsWith(const char* text, const char* start) noexcept {
    return strncmp(text, start, strlen(start)) == 0;
}

bool EndsWith(const char* text, const char* end) noexcept {
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// What else belongs to pg_wal. A stranger's file there would never give its space to WAL.
bool IsServersOwn(const char* name) noexcept {
    return StartsWith(name, "xlogtemp.") || EndsWith(name, ".history") || EndsWith(name, ".backup") ||
           strcmp(name, "archive_status") == 0;
}

}  // namespace

void walsizer_cannot_read(const char* path) {
    static walsizer::Micros next = 0;
    const int reason = errno;
    const walsizer::Micros now = Clock(CLOCK_MONOTONIC);
    if (now < next) return;
    next = now + walsizer::kHour;
    errno = reason;
    ereport(LOG, (errcode_for_file_access(),
                  errmsg("walsizer cannot look at the volume of pg_wal: could not read \"%s\": %m", path),
                  errdetail("Until it can, it does not know how much space is left for WAL.")));
}

// Calls `entry(name, directory)` for every name in `path`. AllocateDir() could raise an ERROR.
template <typename Entry>
static bool walsizer_read_directory(const char* path, Entry entry) {
    DIR* directory = opendir(path);
    if (directory == NULL) {
        walsizer_cannot_read(path);
        return false;
    }
    int count = 0;
    struct dirent* found;
    while (errno = 0, (found = readdir(directory)) != NULL) {
        entry(found->d_name, dirfd(directory));
        if (++count % kEntriesPerInterruptCheck == 0) CHECK_FOR_INTERRUPTS();
    }
    const bool complete = errno == 0;
    if (!complete) walsizer_cannot_read(path);
    closedir(directory);
    return complete;
}

static bool walsizer_stat(const char* path, struct stat* status) {
    if (stat(path, status) == 0) return true;
    walsizer_cannot_read(path);
    return false;
}

bool walsizer_read_segments(XLogSegNo redo, WalsizerSegments* segments) {
    static Watch watch;
    static WalsizerSegments last;
    struct stat directory;
    if (!walsizer_stat(XLOGDIR, &directory)) return false;
    if (watch.Due(directory, redo)) {
        watch.Begin(directory, redo);
        WalsizerSegments read;
        read.redo = redo;
        const bool ok = walsizer_read_directory(XLOGDIR, [&read](const char* name, int fd) {
            const bool segment = IsXLogFileName(name) || IsPartialXLogFileName(name);
            if (!segment && !IsServersOwn(name)) return;
            struct stat file;
            if (fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) != 0) return;  // removed since
            read.size += SpaceOf(file);
            if (!segment) return;
            TimeLineID timeline;
            XLogSegNo number;
            XLogFromFileName(name, &timeline, &number, wal_segment_size);
            if (number >= read.redo) return;
            read.held += SpaceOf(file);
            if (read.oldest == 0 || number < read.oldest) read.oldest = number;
        });
        if (!ok) return false;
        last = read;
        watch.End();
    }
    *segments = last;
    return true;
}

bool walsizer_read_unarchived(XLogSegNo oldest_segment, WalsizerUnarchived* unarchived) {
    static Watch watch;
    static WalsizerUnarchived last;
    struct stat directory;
    if (!walsizer_stat(kStatusDirectory, &directory)) return false;
    if (watch.Due(directory, oldest_segment)) {
        watch.Begin(directory, oldest_segment);
        WalsizerUnarchived read;
        const bool ok = walsizer_read_directory(kStatusDirectory, [&](const char* name, int) {
            if (strspn(name, "0123456789ABCDEF") != XLOG_FNAME_LEN) return;
            const char* suffix = name + XLOG_FNAME_LEN;
            if (strcmp(suffix, ".ready") != 0 && strcmp(suffix, ".partial.ready") != 0) return;
            TimeLineID timeline;
            XLogSegNo number;
            XLogFromFileName(name, &timeline, &number, wal_segment_size);
            if (number < oldest_segment) return;
            ++read.count;
            if (read.oldest != 0 && number >= read.oldest) return;
            read.oldest = number;
            strlcpy(read.oldest_name, name, sizeof(read.oldest_name));
        });
        if (!ok) return false;
        last = read;
        watch.End();
    }
    *unarchived = last;
    return true;
}
