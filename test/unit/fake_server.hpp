// A server that behaves like PostgreSQL where checkpoints are concerned. A test tool, kept small: the
// simulator of src/simulator is another thing.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "walsizer/observation.hpp"

namespace walsizer::test {

constexpr Micros kTick = 10 * kMillisecond;
constexpr Timestamp kWallAtStart = Timestamp{800'000'000} * kSecond;

constexpr double kRecordSize = 100;  // bytes of WAL without full-page images

// WAL per second: a constant part, and full-page images that fade since the redo point.
struct Load {
    double base = 0;
    double images = 0;
    double fade = 1;  // seconds
};

enum class Why { kWal, kTime, kRequest, kSkipped };

struct CheckpointEvent {
    Micros at;
    Why why;
    Bytes distance;
};

class FakeServer {
  public:
    ServerSettings settings;
    std::function<Load(double seconds)> load = [](double) { return Load{}; };
    Micros now = 1000 * kSecond;
    Micros wall_offset = 0;
    double position = 1024.0 * kMiB * 3 + 4096;
    Lsn redo = static_cast<Lsn>(position);
    Micros redo_at = now;
    Timestamp server_start = kWallAtStart;
    bool in_recovery = false;
    bool wal_statistics = true;
    double transaction_bytes = 0;         // WAL of one transaction; 0: transaction ids are not known
    double statistics_coverage = 1;       // share of the WAL that has reached pg_stat_wal
    Micros counters_late = 0;             // from the start of a checkpoint until its counter shows
    Micros checkpoint_takes = 0;          // another one starts no earlier
    std::int64_t statement_segments = 0;  // a running statement keeps this trigger; 0: none runs
    std::vector<CheckpointEvent> events;

    void Advance(Micros to) {
        while (now < to) {
            const Micros step = std::min(kTick, to - now);
            now += step;
            ApplyReload();
            Write(static_cast<double>(step) / kSecond);
            if (!in_recovery) Checkpointer();
        }
    }

    Observation Observe() const {
        Observation seen;
        seen.now = now;
        seen.wall = kWallAtStart + now + wall_offset;
        seen.server_start = server_start;
        seen.position = static_cast<Lsn>(position);
        seen.redo = redo;
        seen.redo_age = now - redo_at;
        seen.in_recovery = in_recovery;
        seen.server = settings;
        for (const auto& [from, counters] : published_)
            if (from <= now) seen.counters = counters;
        seen.wal.known = wal_statistics;
        seen.wal.bytes = static_cast<Bytes>(written_ * statistics_coverage);
        seen.wal.fpi_bytes = static_cast<Bytes>(images_ * statistics_coverage);
        seen.wal.records =
            static_cast<std::int64_t>((written_ - images_) * statistics_coverage / kRecordSize);
        // Full-page images come on top of what a transaction has to write.
        if (transaction_bytes > 0)
            seen.next_xid = 1000 + static_cast<std::int64_t>((written_ - images_) / transaction_bytes);
        return seen;
    }

    // CHECKPOINT, a base backup, DROP DATABASE: all force one.
    void RequestCheckpoint() { Start(Why::kRequest); }
    void WriteNow(Bytes bytes) { Append(static_cast<double>(bytes)); }
    void ReloadAt(Micros at, Bytes max_wal_size) { reloads_.emplace_back(at, max_wal_size); }
    void ResetCounters() { StartCountersAt(CheckpointCounters()); }
    void Noise(std::int64_t timed, std::int64_t requested) {  // restartpoints, up to 16
        counters_.timed += timed;
        counters_.requested += requested;
        Publish();
    }

    // A clean restart: the shutdown checkpoint counts as requested and its counter is on disk.
    void Restart() {
        Start(Why::kRequest);
        Up();
        StartCountersAt(counters_);
    }
    // A crash loses the counters; recovery ends with a checkpoint that nobody counts.
    void Crash() {
        MoveRedo(Why::kRequest);
        Up();
        StartCountersAt(CheckpointCounters());
    }
    void Promote() {
        in_recovery = false;
        Start(Why::kRequest);
    }
    void MoveRedo(Why why) {
        events.push_back({now, why, static_cast<Bytes>(static_cast<Lsn>(position) - redo)});
        redo = static_cast<Lsn>(position);
        redo_at = now;
        timer_from_ = now / kSecond;
        busy_until_ = now + checkpoint_takes;
        wanted_ = false;
    }

    int Count(Why why, Micros since = 0) const {
        int count = 0;
        for (const CheckpointEvent& event : events) count += event.why == why && event.at >= since;
        return count;
    }

  private:
    // pg_stat_reset_shared() shows at once, a server's stored counters from its first look on.
    void StartCountersAt(CheckpointCounters counters) {
        counters_ = counters;
        if (counters.timed == 0 && counters.requested == 0) counters_.reset_at = kWallAtStart + now;
        counters_.known = true;
        published_ = {{0, counters_}};
    }
    void Publish() {
        published_.emplace_back(now + counters_late, counters_);
        while (published_.size() > 1 && published_[1].first <= now) published_.pop_front();
    }
    void Up() {
        server_start = kWallAtStart + now;
        statement_segments = 0;
    }
    void ApplyReload() {
        while (!reloads_.empty() && reloads_.front().first <= now) {
            settings.max_wal_size = reloads_.front().second;
            reloads_.pop_front();
        }
    }
    std::uint64_t Segment(Lsn at) const { return at / static_cast<std::uint64_t>(settings.segment_size); }

    void Write(double seconds) {
        const Load rate = load(static_cast<double>(now) / kSecond - 1000);
        const double age = static_cast<double>(now - redo_at) / kSecond;
        const double images = rate.images * std::exp(-age / rate.fade) * seconds;
        images_ += images;
        Append(rate.base * seconds + images);
    }

    void Append(double bytes) {
        const std::uint64_t before = Segment(static_cast<Lsn>(position));
        position += bytes;
        written_ += bytes;
        // XLogWrite() asks XLogCheckpointNeeded() with each segment it finished.
        const std::uint64_t after = Segment(static_cast<Lsn>(position));
        const std::int64_t trigger =
            statement_segments > 0 ? statement_segments : CheckpointSegments(settings);
        if (after > before && after >= Segment(redo) + static_cast<std::uint64_t>(trigger)) wanted_ = true;
    }

    void Checkpointer() {
        if (now < busy_until_) return;
        Complete();
        if (wanted_) {
            Start(Why::kWal);
        } else if ((now / kSecond - timer_from_) * kSecond >= settings.checkpoint_timeout) {
            if (static_cast<Lsn>(position) == redo) {  // idle: counted, not performed
                events.push_back({now, Why::kSkipped, 0});
                timer_from_ = now / kSecond;
                ++counters_.timed;
                Publish();
            } else {
                Start(Why::kTime);
            }
        }
    }

    void Start(Why why) {
        Complete();
        ++(why == Why::kTime ? counters_.timed : counters_.requested);
        counters_.buffers_written += 1000;
        MoveRedo(why);
        writing_ = true;
        Publish();
    }
    // The times of a checkpoint are told when it is over.
    void Complete() {
        if (!std::exchange(writing_, false)) return;
        counters_.write_time += 100 + static_cast<double>(checkpoint_takes) / kMillisecond;
        counters_.sync_time += 10;
        Publish();
    }

    double written_ = 0;
    double images_ = 0;
    bool wanted_ = false;
    bool writing_ = false;
    Micros timer_from_ = now / kSecond;  // whole seconds, as PostgreSQL's
    Micros busy_until_ = 0;
    CheckpointCounters counters_ = {true, 0, 0, 0, 0, 0, kWallAtStart};
    std::deque<std::pair<Micros, CheckpointCounters>> published_ = {{0, counters_}};
    std::deque<std::pair<Micros, Bytes>> reloads_;
};

inline double MB(double megabytes) {
    return megabytes * static_cast<double>(kMiB);
}

}  // namespace walsizer::test
