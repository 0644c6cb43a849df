// All that one prefix's lines tell: usually one server, with one checkpointer after the other.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/log/settings_guess.hpp"
#include "cli/log/tally.hpp"

namespace walsizer::cli {

// Of crash recovery: where it began and how fast it went.
class ReplayWatch {
  public:
    void Take(const Event& event);
    double rate() const { return rate_; }  // bytes/s; 0 unknown

  private:
    Lsn from_ = 0;
    double rate_ = 0;
};

// One server's part of a log, accounted.
struct LoggedServer {
    std::string name;
    SettingsInForce settings;
    std::optional<Instant> raised_at;
    Tally tally;
    double replay_rate = 0;
    bool rds = false;
};

class ServerLog {
  public:
    ServerLog(std::string name, const SettingOptions& options) : name_(std::move(name)), options_(options) {}
    ServerLog(const ServerLog&) = delete;
    ServerLog& operator=(const ServerLog&) = delete;

    const std::string& name() const { return name_; }
    void Take(const Event& event);
    // Several where checkpointers of different servers took turns.
    std::vector<LoggedServer> Finish();

  private:
    std::size_t LaneOf(std::int64_t pid);
    void Queue(LoggedItem item);
    void AccountFor(const LoggedItem& item);
    void Settle();
    void NoteReady(const Event& event);

    std::string name_;
    const SettingOptions& options_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Account> accounts_;  // beside the lanes
    std::deque<LoggedItem> queue_;   // not yet accounted
    bool settled_ = false;           // the settings were guessed
    Circumstances now_;
    VersionFacts version_;
    ReplayWatch replay_;
};

}  // namespace walsizer::cli
