// A server whose load is known, run by the checkpointer on paper and looked at once a second: what its WAL
// record foretells of other sizes can be compared with what these really do.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "walsizer/paper_checkpointer.hpp"
#include "walsizer/what_if.hpp"

namespace walsizer::test {

class PaperServer {
  public:
    static constexpr double kRecord = 100;  // bytes
    static constexpr double kScale = 0.9;   // of a page: an image without its hole

    ServerSettings settings;
    std::function<PaperLoad(double seconds)> load;
    Micros report_interval = kSecond;  // WAL statistics come this often
    bool statistics = true;
    std::vector<double> commands;  // seconds at which somebody checkpoints

    std::vector<WalBucket> slots = std::vector<WalBucket>(kBucketCapacity);
    std::uint64_t written = 0;
    Ring<WalBucket> buckets = {slots.data(), kBucketCapacity, &written};
    WalRecorder recorder;
    double timed = 0;
    double forced = 0;
    double requested = 0;

    // Records of 100 bytes, and pages touched `touches` times a second.
    static PaperLoad LoadOf(double records, double pages, double touches) {
        PaperLoad load;
        load.records = records * kRecord;
        load.image_size = 8 * kKiB * kScale;
        load.sets[0] = {pages, touches};
        return load;
    }

    void Run(Micros duration) {
        paper_ = PaperCheckpointer(settings, start_, 0);
        std::size_t next_command = 0;
        for (Micros at = 0; at <= duration; at += kSecond) {
            const double seconds = static_cast<double>(at) / kSecond;
            Look(at, 0);
            std::int64_t requests = 0;
            if (next_command < commands.size() && commands[next_command] <= seconds) {
                ++next_command;
                paper_.Request();
                ++requests;
            }
            Advance(load(seconds), kSecond);
            if (requests > 0) Look(at + kSecond - 1, requests);
        }
    }
    double wal() const { return paper_.record_bytes() + paper_.image_bytes(); }

    WhatIfRow Ask(Bytes size, Timestamp since = 0) {
        ServerSettings server = settings;
        server.max_wal_size = size;
        return WhatIf(server, buckets, Summarize(buckets, since), recorder.profile().Fit());
    }

  private:
    void Advance(const PaperLoad& load, Micros time) {
        while (time > 0) {
            const PaperStep step = paper_.Advance(load, time);
            time -= step.elapsed;
            timed += step.event == PaperEvent::kTimed;
            forced += step.event == PaperEvent::kForced;
            requested += step.event == PaperEvent::kRequested;
            if (step.event == PaperEvent::kNone) break;
        }
    }

    void Look(Micros at, std::int64_t requests) {
        Observation seen;
        seen.now = at + kSecond;
        seen.wall = seen.now;
        seen.position = paper_.position();
        seen.redo = paper_.redo();
        seen.server = settings;
        if (statistics) {
            if (at / report_interval != reported_at_ || at == 0) {
                reported_at_ = at / report_interval;
                reported_.known = true;
                reported_.records = static_cast<std::int64_t>(paper_.record_bytes() / kRecord);
                reported_.fpi_bytes = static_cast<Bytes>(paper_.image_bytes() / kScale);
                reported_.bytes = static_cast<Bytes>(wal());
            }
            seen.wal = reported_;
        }
        recorder.Look(seen, requests, buckets);
    }

    Lsn start_ = 5 * 16 * kMiB;
    PaperCheckpointer paper_;
    WalStatistics reported_;
    Micros reported_at_ = -1;
};

}  // namespace walsizer::test
