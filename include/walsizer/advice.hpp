// Findings about the neighbours of max_wal_size: settings, storage and jobs that make checkpoints hurt, or
// that more max_wal_size would not help. Facts in, findings out; a healthy server has none.
//
// Every fact may be missing: the extension, a program that only sees counters, and one that only reads the
// log know different things. A rule that lacks a fact stays silent.
#pragma once

#include <optional>

#include "walsizer/effect.hpp"
#include "walsizer/journal.hpp"
#include "walsizer/postgres_rules.hpp"
#include "walsizer/volume.hpp"

namespace walsizer {

enum class Severity : std::uint8_t {
    kInfo,     // worth knowing; may be meant so
    kNotice,   // costs something every day
    kWarning,  // hurts now, or will
};
const char* Name(Severity severity) noexcept;

struct Finding {
    Severity severity = Severity::kInfo;
    const char* topic = "";  // a setting's name where there is one
    Reason finding;          // what it means, in one sentence or two
    Reason evidence;         // the numbers, with units and the span that they cover
    Reason statement;        // what to run, or "none: " and what to do instead
};

// What the server did in a span of time that ends about now. Counters that began long ago are of no use here:
// only their difference over the span is.
struct Activity {
    Measures measures;
    std::uint32_t windows = 0;  // whole ones; the rest is in the sums only
    Bytes least_wal = 0;        // of one whole window
    Bytes most_wal = 0;
    std::int64_t buffers_written = 0;  // by checkpoints
    // Checkpoints that ended, and how long they took. Others count when they start: a busy server always has
    // one that has started and not ended, or ended and not started within the span.
    std::int64_t completed = 0;
    double write_time = 0;  // milliseconds, all together
    double sync_time = 0;
    std::int64_t clean = -1;  // as in WindowRecord; -1 unknown
    std::int64_t maxwritten = -1;
    std::int64_t backend = -1;
    std::int64_t backend_fsync = -1;

    void Add(const WindowRecord& window) noexcept;
};

struct AdviceFacts {
    ServerSettings server;
    bool in_recovery = false;
    bool from_log = false;  // the past until the log's end, whenever that was

    std::optional<bool> log_checkpoints;
    std::optional<Bytes> min_wal_size;
    std::optional<Bytes> shared_buffers;
    std::optional<Bytes> memory;  // of the machine, or of the container
    std::optional<int> bgwriter_lru_maxpages;
    std::optional<Micros> bgwriter_delay;
    std::optional<Bytes> checkpoint_flush_after;
    std::optional<bool> wal_compression;
    bool has_lz4 = false;                   // wal_compression = lz4 is possible (15 and later, if built so)
    std::optional<Micros> archive_timeout;  // 0: off

    bool backend_writes_exact =
        false;  // as from pg_stat_io; else relation extension and bulk loads count, too
    bool backend_fsyncs_exact = false;  // false: those of CREATE INDEX and the like count, too
    bool wal_minimal = false;  // wal_level = minimal: what a transaction created is fsynced instead of logged
    bool fpi_bytes_exact = false;  // false: whole pages are counted, an upper bound

    VolumeFacts volume;
    Text<64> storage;      // "Amazon Aurora": storage that replays WAL by itself; empty: PostgreSQL's own
    Text<256> requesters;  // who asked for checkpoints, as far as the reader of the facts could find out
    std::optional<Bytes> need;     // max_wal_size that the present load needs
    std::optional<Bytes> ceiling;  // the most that walsizer may set
    bool can_shrink = false;       // walsizer.shrink() exists here and would not be refused

    // The last 12 windows, or as many as there are, and the open one.
    Activity lately;
    // Those of them since the last change of max_wal_size in which WAL forced nothing.
    Activity settled;
    // For the rules that look further back; no rule needs it.
    const Journal* journal = nullptr;
    Timestamp now = 0;
    // How the reader writes an instant, e.g. in a session's time zone.
    ShortText (*time_text)(Timestamp) noexcept = nullptr;
};

// Fills lately and settled from the journal and the window that is open (nullptr: none is); `now` and
// in_recovery are set before.
void FillActivity(const Journal& journal, const WindowRecord* open, AdviceFacts& facts) noexcept;

struct Findings {
    static constexpr unsigned kMost = 24;  // more than there are rules

    Finding rows[kMost];
    unsigned count = 0;

    Finding& Add(Severity severity, const char* topic) noexcept;
};

// The worst first.
void Advise(const AdviceFacts& facts, Findings& findings) noexcept;

}  // namespace walsizer
