#include "cli/advice_source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include "cli/log/log_advice.hpp"
#include "cli/output.hpp"
#include "cli/server/advise_server.hpp"

namespace walsizer::cli {

namespace {

// A file's size where it tells how much there is to read; 0 where it does not.
std::int64_t BytesToRead(const std::vector<std::string>& paths) {
    std::int64_t sum = 0;
    for (const std::string& path : paths) {
        struct stat facts = {};
        if (path == "-" || stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
        sum += facts.st_size;
    }
    return sum;
}

class LogProgress {
  public:
    explicit LogProgress(const std::vector<std::string>& paths)
        : shows_(ShowsProgress()), total_(shows_ ? BytesToRead(paths) : 0) {}
    ~LogProgress() {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }
    LogProgress(const LogProgress&) = delete;
    LogProgress& operator=(const LogProgress&) = delete;

    void operator()(std::int64_t bytes) {
        if (!shows_) return;
        shown_ = true;
        const auto megabytes = bytes / 1'000'000;
        // Compressed files yield more than their size: then there is no share to show.
        if (total_ > bytes)
            fmt::print(stderr, "\r{} {:>3.0f} %  {} MB read",
                       Bar(static_cast<double>(bytes) / static_cast<double>(total_), 30),
                       100.0 * static_cast<double>(bytes) / static_cast<double>(total_), megabytes);
        else
            fmt::print(stderr, "\r\033[K{} MB read", megabytes);
    }

  private:
    bool shows_;
    std::int64_t total_;
    bool shown_ = false;
};

}  // namespace

void AddSourceOptions(CLI::App& command, AdviceSource& source) {
    command.add_option("--log", source.logs, "Read server logs instead; - is standard input")
        ->type_name("FILE ...");
    AddSettingOptions(command, source.settings);
    AddConnectionOptions(command, source.connection);
    AddWatchOptions(command, source.watch);
    AddCeilingOptions(command, source.ceilings);
}

Advice AdviseFromLogs(const AdviceSource& source) {
    LogProgress progress(source.logs);
    const LogFacts facts =
        ReadLogs(source.logs, source.settings, [&progress](std::int64_t bytes) { progress(bytes); });
    return AdviseByLog(source.logs, facts, source.ceilings);
}

Advice AdviseFromServer(Connection& connection, const AdviceSource& source) {
    return AdviseServer(connection, source.watch, source.ceilings);
}

}  // namespace walsizer::cli
