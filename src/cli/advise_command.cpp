// `walsizer advise`
#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "cli/command.hpp"
#include "cli/log/log_advice.hpp"
#include "cli/print_advice.hpp"
#include "cli/server/advise_server.hpp"

namespace walsizer::cli {

namespace {

struct AdviseOptions {
    std::vector<std::string> logs;
    SettingOptions settings;
    ConnectionOptions connection;
    WatchOptions watch;
    CeilingOptions ceilings;
};

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

Advice AdviseFromLogs(const AdviseOptions& options) {
    LogProgress progress(options.logs);
    const LogFacts facts =
        ReadLogs(options.logs, options.settings, [&progress](std::int64_t bytes) { progress(bytes); });
    return AdviseByLog(options.logs, facts, options.ceilings);
}

Advice AdviseFromServer(const AdviseOptions& options) {
    Connection connection = Connection::Open(options.connection);
    return AdviseServer(connection, options.watch, options.ceilings);
}

}  // namespace

void AddAdvise(CLI::App& program, Invocation& invocation) {
    const auto options = std::make_shared<AdviseOptions>();
    CLI::App* command =
        program.add_subcommand("advise",
                               "Tell what max_wal_size should be: watch a server, which needs no "
                               "extension, or read its logs");
    command->set_help_flag("-?,--help", "Show this help");
    command->footer(
        "With --log, settings that the logs do not show are PostgreSQL's defaults, unless\n"
        "an option tells them. Logs may be of any form and size, compressed with gzip or\n"
        "zstd, in any order and language.");
    command->add_option("--log", options->logs, "Read server logs instead; - is standard input")
        ->type_name("FILE ...");
    AddSettingOptions(*command, options->settings);
    AddConnectionOptions(*command, options->connection);
    AddWatchOptions(*command, options->watch);
    AddCeilingOptions(*command, options->ceilings);
    AddOutputOptions(*command, invocation.output);
    command->callback([options, &invocation] {
        invocation.run = [options, &invocation] {
            const Advice advice =
                options->logs.empty() ? AdviseFromServer(*options) : AdviseFromLogs(*options);
            PrintAdvice(advice, invocation.output);
            return advice.HasFinding() ? kFinding : kNothingFound;
        };
    });
}

}  // namespace walsizer::cli
