#include "cli/log/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "cli/calendar.hpp"
#include "cli/log/log_file.hpp"
#include "cli/log/stamp.hpp"

namespace walsizer::cli {

namespace {

// Servers told apart by their prefix; a prefix that changes from line to line must not use up memory.
constexpr std::size_t kMostServers = 200;
// Events remembered to recognise copies.
constexpr std::size_t kRemembered = 200'000;
// Files open at once: those whose times overlap. Beyond, one waits for another to end.
constexpr std::size_t kMostOpen = 64;
constexpr std::int64_t kProgressStep = std::int64_t{1} << 24;

// Finds lines that another file, or an earlier part of the same file that was copied, had already. Identical
// lines within one part are none: two checkpoints can start in one second.
class Copies {
  public:
    bool IsCopy(std::uint64_t identity, std::size_t part) {
        if (identity == 0) return false;
        if (older_.size() + newer_.size() > kRemembered && newer_.size() > kRemembered / 2) {
            older_ = std::move(newer_);
            newer_.clear();
        }
        Seen& seen = Find(identity);
        if (seen.part != part) seen = {part, 0, seen.total};
        ++seen.here;
        if (seen.here <= seen.total) return true;
        ++seen.total;
        return false;
    }

  private:
    struct Seen {
        std::size_t part = 0;
        std::uint32_t here = 0;   // times in this part
        std::uint32_t total = 0;  // times that counted
    };
    Seen& Find(std::uint64_t identity) {
        const auto older = older_.find(identity);
        if (older == older_.end()) return newer_[identity];
        const Seen seen = older->second;
        older_.erase(older);
        return newer_[identity] = seen;
    }
    std::unordered_map<std::uint64_t, Seen> older_;
    std::unordered_map<std::uint64_t, Seen> newer_;
};

// Events of several files merged by time. Files are opened when their time has come.
class Merge {
  public:
    Merge(const std::vector<std::string>& paths, LogFacts& facts,
          const std::function<void(std::int64_t)>& progress)
        : facts_(facts), progress_(progress) {
        for (const std::string& path : paths) waiting_.push_back({path, {}, waiting_.size()});
        if (waiting_.size() > 1) SortByFirstStamp();
    }

    // The next event and the part of the input it is from; false at the end.
    bool Next(Event& event, std::size_t& part) {
        OpenThoseDue();
        LogFile* first = nullptr;
        for (const auto& file : open_)
            if (first == nullptr || Before(*file->Peek(), *first->Peek())) first = file.get();
        if (first == nullptr) return false;
        event = *first->Peek();
        first->Pop();
        part = PartOf(first->index(), event);
        CloseFinished();
        return true;
    }

  private:
    struct Waiting {
        std::string path;
        std::optional<Instant> from;
        std::size_t index;
    };

    static bool Before(const Event& one, const Event& other) {
        if (!one.at || !other.at || one.at->dated != other.at->dated) return false;
        return one.at->at < other.at->at;
    }

    // By the first event, not by name or by the file's own time: rotation renames, and copies are new.
    void SortByFirstStamp() {
        for (Waiting& waiting : waiting_) {
            if (waiting.path == "-") continue;
            LogFile file(waiting.path, 0);
            const Event* event = file.Peek();
            if (event != nullptr && event->at && event->at->dated) waiting.from = event->at;
        }
        std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& one, const Waiting& other) {
            if (!one.from || !other.from) return !one.from && other.from;
            return one.from->at < other.from->at;
        });
    }

    void OpenThoseDue() {
        while (next_ < waiting_.size() && open_.size() < kMostOpen && IsDue(waiting_[next_])) {
            auto file = std::make_unique<LogFile>(waiting_[next_].path, waiting_[next_].index);
            ++next_;
            if (file->Peek() != nullptr)
                open_.push_back(std::move(file));
            else
                Close(*file);
        }
    }

    bool IsDue(const Waiting& waiting) {
        if (open_.empty() || !waiting.from) return true;
        return std::any_of(open_.begin(), open_.end(), [&](const std::unique_ptr<LogFile>& file) {
            const Event* event = file->Peek();
            return event->at && event->at->dated && event->at->at >= waiting.from->at;
        });
    }

    void CloseFinished() {
        std::int64_t bytes = facts_.bytes;
        for (std::size_t i = 0; i < open_.size();) {
            if (open_[i]->Peek() == nullptr) {
                Close(*open_[i]);
                bytes += open_[i]->bytes();
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                bytes += open_[i]->bytes();
                ++i;
            }
        }
        if (progress_ && bytes - told_ >= kProgressStep) progress_(told_ = bytes);
    }

    void Close(const LogFile& file) {
        facts_.lines += file.lines();
        facts_.bytes += file.bytes();
        facts_.unparsed += file.unparsed();
        if (file.truncated())
            facts_.notes.push_back(
                fmt::format("{}: the compressed data breaks off or is damaged; what came "
                            "before was read.",
                            file.path()));
    }

    // A file, or what follows a jump back in time within it.
    std::size_t PartOf(std::size_t file, const Event& event) {
        Position& position = positions_[file];
        if (event.at && event.at->dated) {
            if (position.at && event.at->at < position.at->at - kMinute) ++position.jumps;
            position.at = event.at;
        }
        return file * 1'000'003 + position.jumps + 1;
    }

    struct Position {
        std::optional<Instant> at;
        std::size_t jumps = 0;
    };

    LogFacts& facts_;
    const std::function<void(std::int64_t)>& progress_;
    std::vector<Waiting> waiting_;
    std::size_t next_ = 0;
    std::vector<std::unique_ptr<LogFile>> open_;
    std::map<std::size_t, Position> positions_;
    std::int64_t told_ = 0;
};

class Servers {
  public:
    explicit Servers(const SettingOptions& options) : options_(options) {}

    void Take(const Event& event) {
        if (!last_ || last_->name() != event.server) last_ = &Find(event.server);
        last_->Take(event);
    }

    std::vector<LoggedServer> Finish() {
        std::vector<LoggedServer> all;
        for (auto& [name, log] : logs_)
            for (LoggedServer& server : log->Finish()) all.push_back(std::move(server));
        // Other lines of the same log (a start, a setting) are no servers of their own.
        const auto idle = [](const LoggedServer& server) {
            return server.tally.counts.total() == 0 && server.replay_rate == 0;
        };
        const auto gone = std::remove_if(all.begin(), all.end(), idle);
        if (gone != all.begin())
            all.erase(gone, all.end());
        else
            all.resize(std::min<std::size_t>(all.size(), 1));
        if (all.empty()) all.push_back(ServerLog("", options_).Finish().front());
        return all;
    }

  private:
    ServerLog& Find(const std::string& name) {
        const auto found = logs_.find(name);
        if (found != logs_.end()) return *found->second;
        if (logs_.size() >= kMostServers) return *logs_.rbegin()->second;
        return *logs_.emplace(name, std::make_unique<ServerLog>(name, options_)).first->second;
    }

    const SettingOptions& options_;
    std::map<std::string, std::unique_ptr<ServerLog>> logs_;
    ServerLog* last_ = nullptr;
};

}  // namespace

LogFacts ReadLogs(const std::vector<std::string>& paths, const SettingOptions& options,
                  const std::function<void(std::int64_t)>& progress) {
    SetClockForYears((static_cast<Timestamp>(std::time(nullptr)) * kSecond) + DaysOf({1970, 1, 1}) * kDay);
    LogFacts facts;
    Merge merge(paths, facts, progress);
    Servers servers(options);
    Copies copies;
    Event event;
    std::size_t part = 0;
    while (merge.Next(event, part)) {
        if (copies.IsCopy(event.identity, part))
            ++facts.duplicates;
        else
            servers.Take(event);
    }
    facts.servers = servers.Finish();
    return facts;
}

}  // namespace walsizer::cli
