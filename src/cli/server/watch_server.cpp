#include "cli/server/watch_server.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "cli/output.hpp"
#include "cli/quantity.hpp"
#include "cli/server/interrupt.hpp"
#include "walsizer/text.hpp"

namespace walsizer::cli {

namespace {

constexpr Micros kLookEvery = kSecond;
// So many statements in a row that the server refuses are no accident of a promotion.
constexpr int kMostRefusals = 5;

std::string Identity(Connection& connection) {
    try {
        return connection.Query("SELECT system_identifier FROM pg_catalog.pg_control_system()")
            .Get("system_identifier")
            .value_or("");
    } catch (const StatementFailed&) {
        return "";
    }
}

class Watch {
  public:
    Watch(Connection& connection, const Sight& sight, const WatchOptions& options, CycleFeed& feed)
        : connection_(connection), sight_(sight), options_(options), feed_(feed), shows_(ShowsProgress()) {}

    WatchResult Run() {
        identity_ = Identity(connection_);
        start_ = MonotonicNow();
        Micros next = start_;
        while (true) {
            if (!Step()) break;
            Show();
            const Micros now = MonotonicNow();
            if (Interrupted() || now >= start_ + options_.duration) break;
            next = std::max(next + kLookEvery, now);
            Sleep(std::min(next, start_ + options_.duration));
            if (Interrupted()) break;
        }
        result_.interrupted = Interrupted();
        if (shows_) std::fputs("\r\033[K", stderr);
        if (feed_.empty()) throw std::runtime_error(trouble_.empty() ? "nothing was watched" : trouble_);
        feed_.Finish();
        Tell();
        return std::move(result_);
    }

  private:
    // False: it makes no sense to go on.
    bool Step() {
        try {
            if (lost_) {
                connection_.Reconnect();
                if (!SameServer()) return false;
                lost_ = false;
                away_ += MonotonicNow() - lost_at_;
            }
            feed_.Add(Look(connection_, sight_));
            refusals_ = 0;
        } catch (const ConnectionLost& error) {
            if (!lost_ && !Interrupted()) {
                lost_ = true;
                lost_at_ = MonotonicNow();
                ++losses_;
            }
            trouble_ = error.what();
        } catch (const StatementFailed& error) {
            trouble_ = error.what();
            if (++refusals_ >= kMostRefusals) {
                result_.notes.push_back(fmt::format(
                    "The server went on refusing to answer ({}); watching ended early.", trouble_));
                return false;
            }
        }
        return true;
    }

    bool SameServer() {
        const std::string now = Identity(connection_);
        if (identity_.empty() || now.empty() || now == identity_) return true;
        result_.notes.push_back(
            "After the connection was lost another server answered (its system identifier differs); watching "
            "ended there.");
        return false;
    }

    void Sleep(Micros until) {
        while (!Interrupted()) {
            const Micros left = until - MonotonicNow();
            if (left <= 0) return;
            WaitFor(left);
        }
    }

    void Show() {
        if (!shows_) return;
        const Micros elapsed = MonotonicNow() - start_;
        const std::string line = lost_ ? fmt::format("no connection for {}, trying again: {}",
                                                     ClockText(MonotonicNow() - lost_at_).c_str(),
                                                     trouble_.substr(0, trouble_.find('\n')))
                                             .substr(0, kColumns - 1)
                                       : ProgressLine(elapsed, options_.duration, feed_, kColumns - 1);
        fmt::print(stderr, "\r{}\033[K", line);
        std::fflush(stderr);
    }

    void Tell() {
        if (lost_) away_ += MonotonicNow() - lost_at_;
        if (losses_ > 0)
            result_.notes.push_back(fmt::format(
                "The connection was lost {} and the server was out of sight for {}{}.",
                losses_ == 1 ? "once" : fmt::format("{} times", losses_), TimeForPeople(away_),
                lost_ ? fmt::format(", at the end as well ({})", trouble_.substr(0, trouble_.find('\n')))
                      : ""));
        if (feed_.restarted())
            result_.notes.push_back(
                "The server restarted, or was promoted, while it was watched; the checkpoint of that counts "
                "as "
                "recovery.");
        if (feed_.OneIsRunning())
            result_.notes.push_back(
                "A requested checkpoint was still running at the end and is not counted: over SQL its redo "
                "point "
                "shows when it completes.");
    }

    Connection& connection_;
    const Sight& sight_;
    const WatchOptions& options_;
    CycleFeed& feed_;
    WatchResult result_;
    std::string identity_;
    std::string trouble_;
    Micros start_ = 0;
    Micros lost_at_ = 0;
    Micros away_ = 0;
    int losses_ = 0;
    int refusals_ = 0;
    bool lost_ = false;
    bool shows_;
};

}  // namespace

void AddWatchOptions(CLI::App& command, WatchOptions& options) {
    command
        .add_option_function<std::string>(
            "--for",
            [&options](const std::string& text) {
                if (!ParseTime(text, kSecond, options.duration))
                    throw CLI::ValidationError("--for", "\"" + text + "\" is no time such as 10min or 90s");
            },
            "How long to watch the server (10min)")
        ->type_name("TIME");
}

std::string ProgressLine(Micros elapsed, Micros duration, const CycleFeed& feed, std::size_t columns) {
    const double share = duration > 0 ? static_cast<double>(elapsed) / static_cast<double>(duration) : 1;
    const CauseCounts counts = feed.Counts();
    std::string line =
        fmt::format("watching {} {} of {}  WAL {}  checkpoints: {} by WAL, {} other", Bar(share, 16),
                    ClockText(std::min(elapsed, duration)).c_str(), ClockText(duration).c_str(),
                    SizeForPeople(static_cast<double>(feed.wal_bytes())), counts[Cause::kWal],
                    counts.total() - counts[Cause::kWal]);
    while (DisplayWidth(line) > columns) line.pop_back();
    return line;
}

WatchResult WatchServer(Connection& connection, const Sight& sight, const WatchOptions& options,
                        CycleFeed& feed) {
    CatchInterrupts();
    return Watch(connection, sight, options, feed).Run();
}

}  // namespace walsizer::cli
