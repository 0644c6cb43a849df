// Drives a Tuner on a FakeServer: it is fed at the moments it asks for, and its orders are carried out late,
// or fail.
#pragma once

#include <string>
#include <vector>

#include "fake_server.hpp"
#include "walsizer/tuner.hpp"

namespace walsizer::test {

class Rig {
  public:
    FakeServer server;
    TunerSettings settings;
    Tuner tuner;
    Micros reload_takes = 100 * kMillisecond;
    std::string change_fails_with;  // empty: changes work
    bool reload_does_nothing = false;
    bool original_had_line = true;

    std::vector<DecisionRecord> decisions = std::vector<DecisionRecord>(kDecisionCapacity);
    std::vector<WindowRecord> windows = std::vector<WindowRecord>(3000);
    std::vector<CheckpointRecord> checkpoints = std::vector<CheckpointRecord>(kCheckpointCapacity);
    std::vector<WalBucket> buckets = std::vector<WalBucket>(kBucketCapacity);
    std::uint64_t written[4] = {};
    Totals totals;
    Journal journal = {{decisions.data(), kDecisionCapacity, &written[0]},
                       {windows.data(), 3000, &written[1]},
                       {checkpoints.data(), kCheckpointCapacity, &written[2]},
                       totals,
                       {buckets.data(), kBucketCapacity, &written[3]}};
    std::vector<LogLine> log;
    std::vector<Bytes> sets;
    Micros next_look = kSecond;
    std::int64_t looks = 0;

    // Only the ceiling a test sets may govern.
    Rig() {
        settings.max = 1024 * kGiB;
        settings.max_recovery_time = 0;
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    Orders Look() {
        ++looks;
        Orders orders = tuner.Look(server.Observe(), settings, journal);
        CarryOut(orders);
        next_look = server.now + orders.next_look;
        return orders;
    }
    void Run(Micros duration) {
        const Micros end = server.now + duration;
        if (!tuner.tracker().started()) Look();
        while (next_look <= end) {
            server.Advance(next_look);
            Look();
        }
        server.Advance(end);
    }
    CommandResult Ask(CommandKind kind) {
        Orders orders;
        Command command;
        command.kind = kind;
        command.role.Set("alice");
        const CommandResult result = tuner.Execute(command, journal, orders);
        CarryOut(orders);
        return result;
    }
    // The observer ends and another begins: what it keeps is what the history file holds.
    void RestartTuner() {
        const TunerMemory memory = tuner.memory();
        tuner = Tuner();
        tuner.Remember(memory);
    }

    std::int64_t Rows(CheckpointCause cause) {
        std::int64_t count = 0;
        for (std::uint32_t age = 0; age < journal.checkpoints.size(); ++age)
            if (journal.checkpoints.Newest(age).cause == cause)
                count += journal.checkpoints.Newest(age).count;
        return count;
    }
    int Decisions(Action action) {
        int count = 0;
        for (std::uint32_t age = 0; age < journal.decisions.size(); ++age)
            count += journal.decisions.Newest(age).action == action;
        return count;
    }
    DecisionRecord& LastDecision() { return journal.decisions.Newest(0); }
    Bytes size() const { return server.settings.max_wal_size; }
    int Warnings() const {
        int count = 0;
        for (const LogLine& line : log) count += line.warning;
        return count;
    }

  private:
    void CarryOut(Orders& orders) {
        if (orders.change != Change::kNone) {
            sets.push_back(orders.size);
            if (!change_fails_with.empty()) {
                tuner.ChangeFailed(change_fails_with.c_str(), "Look at the file's owner.", journal, orders);
            } else {
                if (orders.change == Change::kSet && tuner.NeedsOriginal()) {
                    Original original;
                    original.known = true;
                    original.had_line = original_had_line;
                    original.text.Set("%s", "1GB");
                    original.size = server.settings.max_wal_size;
                    tuner.RememberOriginal(original);
                }
                if (!reload_does_nothing) server.ReloadAt(server.now + reload_takes, orders.size);
            }
        }
        for (unsigned i = 0; i < orders.log_count; ++i) log.push_back(orders.log[i]);
    }
};

}  // namespace walsizer::test
