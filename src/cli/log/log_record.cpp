#include "cli/log/log_record.hpp"

#include <algorithm>

#include "walsizer/wal_record.hpp"

namespace walsizer::cli {

namespace {

// Stamps may be whole seconds, and WAL takes some time to be written.
constexpr Micros kShortest = 100 * kMillisecond;

CheckpointCause CauseForEngine(const Checkpoint& checkpoint) {
    if (checkpoint.cause == Cause::kWal)
        return checkpoint.stale ? CheckpointCause::kStale : CheckpointCause::kWal;
    // A standby follows the pace of its primary, whatever made that.
    const bool by_itself = checkpoint.cause == Cause::kTime || checkpoint.cause == Cause::kRestartpoint;
    return by_itself ? CheckpointCause::kTime : CheckpointCause::kRequest;
}

double Milliseconds(Micros time) {
    return time < 0 ? 0 : static_cast<double>(time) / kMillisecond;
}

}  // namespace

LogRecord::LogRecord(const std::vector<Checkpoint>& history, const ServerSettings& server, bool standby)
    : server_(server),
      standby_(standby),
      bucket_slots_(std::min<std::size_t>(2 * history.size() + 1, kBucketCapacity)),
      window_slots_(kRecentWindows),
      row_slots_(std::min<std::size_t>(history.size() + 1, kCheckpointCapacity)),
      buckets_(bucket_slots_.data(), static_cast<std::uint32_t>(bucket_slots_.size()), &written_[0]),
      journal_{{&decision_, 1, &written_[1]},
               {window_slots_.data(), kRecentWindows, &written_[2]},
               {row_slots_.data(), static_cast<std::uint32_t>(row_slots_.size()), &written_[3]},
               totals_} {
    for (const Checkpoint& checkpoint : history)
        if (checkpoint.started) end_ = std::max(end_, checkpoint.started->at);
    open_.resize(kRecentWindows);
    for (std::uint32_t age = 0; age < kRecentWindows; ++age) {
        WindowRecord& window = open_[age];
        window.end = end_ - age * server.checkpoint_timeout;
        window.start = window.end - server.checkpoint_timeout;
        window.timeout = server.checkpoint_timeout;
        window.max_wal_size = server.max_wal_size;
        window.in_recovery = standby;
        window.completed = 0;
    }
    for (const Checkpoint& checkpoint : history) {
        if (!checkpoint.started) continue;
        if (!standby) AddBucket(checkpoint);
        AddToWindows(checkpoint);
        if (checkpoint.cause != Cause::kUnknown) AddRow(checkpoint);
    }
    CloseWindows();
}

// What lies before a checkpoint of unknown interval or WAL is a gap in the record.
void LogRecord::AddBucket(const Checkpoint& checkpoint) {
    if (checkpoint.interval < 0 || checkpoint.wal_bytes < 0 || checkpoint.cause == Cause::kRestartpoint)
        return;
    const Timestamp at = checkpoint.started->at;
    const Micros written_in =
        std::clamp(checkpoint.written_in, kShortest, std::max(checkpoint.interval, kShortest));
    WalBucket bucket;
    if (checkpoint.interval > written_in) {
        bucket.start = at - checkpoint.interval;
        bucket.seconds = static_cast<float>(checkpoint.interval - written_in) / kSecond;
        MendBucket(bucket);
        buckets_.Push(bucket);
    }
    bucket.start = at - written_in;
    bucket.seconds = static_cast<float>(written_in) / kSecond;
    bucket.wal_bytes = static_cast<float>(checkpoint.wal_bytes);
    bucket.moves = 1;
    bucket.requests = CauseForEngine(checkpoint) == CheckpointCause::kRequest ? 1 : 0;
    MendBucket(bucket);
    buckets_.Push(bucket);
}

void LogRecord::AddToWindows(const Checkpoint& checkpoint) {
    const Timestamp at = checkpoint.started->at;
    const Timestamp from = at - std::max<Micros>(checkpoint.interval, 0);
    const Timestamp wal_from = at - std::max<Micros>(checkpoint.written_in, 0);
    for (WindowRecord& window : open_) {
        if (window.start >= at) continue;
        if (window.end <= from && at != from) continue;
        const auto overlap = [&](Timestamp begin) {
            return std::max<Micros>(std::min(at, window.end) - std::max(begin, window.start), 0);
        };
        window.length = std::min(window.length + overlap(from), server_.checkpoint_timeout);
        if (checkpoint.wal_bytes > 0 && checkpoint.written_in > 0 && !standby_)
            window.wal_bytes += static_cast<Bytes>(static_cast<double>(checkpoint.wal_bytes) *
                                                   static_cast<double>(overlap(wal_from)) /
                                                   static_cast<double>(at - wal_from));
        if (at <= window.start || at > window.end || checkpoint.cause == Cause::kUnknown) continue;
        window.checkpoints.Add(CauseForEngine(checkpoint), 1);
        window.completed += checkpoint.write_time >= 0;
        window.write_time += Milliseconds(checkpoint.write_time);
        window.sync_time += Milliseconds(checkpoint.sync_time);
        window.buffers_written += std::max<std::int64_t>(checkpoint.buffers, 0);
    }
}

void LogRecord::AddRow(const Checkpoint& checkpoint) {
    CheckpointRecord row;
    row.started_at = checkpoint.started->at;
    row.wal_bytes = std::max<Bytes>(checkpoint.wal_bytes, 0);
    row.cycle_time = checkpoint.interval;
    row.max_wal_size = server_.max_wal_size;
    row.count = 1;
    row.cause = CauseForEngine(checkpoint);
    journal_.checkpoints.Push(row);
}

void LogRecord::CloseWindows() {
    for (std::size_t i = open_.size(); i-- > 0;)
        if (open_[i].length > 0) journal_.windows.Push(open_[i]);
}

}  // namespace walsizer::cli
