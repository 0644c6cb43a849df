// A workload trace: what the clients of a simulated server do, and the server they do it to. Traces are small
// text files; docs/simulator.md describes the format.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "walsizer/paper_checkpointer.hpp"
#include "walsizer/settings.hpp"

namespace walsizer::simulator {

struct TraceStep {
    enum class Kind {
        kLoad,        // for `time`
        kCheckpoint,  // a command that checkpoints: CHECKPOINT, a base backup, DROP DATABASE
        kStatement,   // a statement begins that runs for `time`, beside the load that follows
        kCrash,       // kill -9; recovery follows, the clients wait for it
    };
    Kind kind = Kind::kLoad;
    Micros time = 0;
    PaperLoad load;
};

struct Trace {
    std::string name;
    std::string title;      // the file's first comment line
    bool held_out = false;  // kept out of tuning: judged, never looked at while a constant is chosen
    bool steady = false;    // it ends in a load that lasted long enough to know what it needs

    ServerSettings server;  // max_wal_size is where every policy starts
    Bytes min_wal_size = 80 * kMiB;
    TunerSettings tuner;                       // the ceilings: max, max_recovery_time, disk_reserve
    Bytes disk_size = 0;                       // of pg_wal's volume; 0: not looked at
    Bytes disk_used = 0;                       // by others
    double replay_rate = 64.0 * kMiB;          // bytes/s of WAL that crash recovery really replays
    double write_rate = 20000;                 // pages/s that storage can write in a checkpoint
    Micros reload_delay = 100 * kMillisecond;  // from a change until idle processes have it

    std::vector<TraceStep> steps;

    Micros Length() const;
};

// What is wrong with a trace, as "file:line: message".
class TraceError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

Trace ParseTrace(const std::string& text, const std::string& name);
Trace ReadTrace(const std::string& path);
// All *.trace of a folder by name; those of its sub-folder held_out are marked so.
std::vector<Trace> ReadTraces(const std::string& folder);

// One server of a fleet: rates and working sets times `factor`; a larger one also has faster storage and the
// ceilings that go with it.
Trace Scaled(const Trace& trace, double factor);

}  // namespace walsizer::simulator
