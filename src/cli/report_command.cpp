// `walsizer report`
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/command.hpp"
#include "cli/log/log_advice.hpp"
#include "cli/report/report_page.hpp"
#include "cli/server/advise_server.hpp"
#include "cli/show/extension.hpp"

namespace walsizer::cli {

namespace {

struct ReportOptions {
    std::vector<std::string> logs;
    SettingOptions settings;
    ConnectionOptions connection;
    WatchOptions watch;
    CeilingOptions ceilings;
    std::string output;
};

// Beside the file first, so that a full disk leaves the old report whole.
void Write(const std::string& path, const std::string& page) {
    if (path == "-") {
        std::fwrite(page.data(), 1, page.size(), stdout);
        return;
    }
    const std::string draft = path + ".new";
    std::FILE* file = std::fopen(draft.c_str(), "wb");
    bool written = file != nullptr && std::fwrite(page.data(), 1, page.size(), file) == page.size();
    int reason = errno;
    if (file != nullptr && std::fclose(file) != 0) {
        written = false;
        reason = errno;
    }
    if (written && std::rename(draft.c_str(), path.c_str()) == 0) return;
    if (written) reason = errno;
    std::remove(draft.c_str());
    throw std::runtime_error(fmt::format("cannot write \"{}\": {}", path, std::strerror(reason)));
}

int WriteAdvice(const Advice& advice, const std::string& output) {
    Write(output, Page(ReportOf(advice)));
    return advice.HasFinding() ? kFinding : kNothingFound;
}

int WriteReport(const ReportOptions& options) {
    if (!options.logs.empty()) {
        const LogFacts facts = ReadLogs(options.logs, options.settings, [](std::int64_t) {});
        return WriteAdvice(AdviseByLog(options.logs, facts, options.ceilings), options.output);
    }
    Connection connection = Connection::Open(options.connection);
    if (HasExtension(connection)) {
        RequireExtension(connection);
        Write(options.output, Page(ReportOf(connection)));
        return ReadStatus(connection).NeedsAttention() ? kFinding : kNothingFound;
    }
    return WriteAdvice(AdviseServer(connection, options.watch, options.ceilings), options.output);
}

}  // namespace

void AddReport(CLI::App& program, Invocation& invocation) {
    const auto options = std::make_shared<ReportOptions>();
    CLI::App* command =
        program.add_subcommand("report",
                               "Write one self-contained HTML page: of the extension's history, of a "
                               "server watched now, or of its logs");
    command->set_help_flag("-?,--help", "Show this help");
    AddConnectionOptions(*command, options->connection);
    command->add_option("-o,--output", options->output, "The page to write; - is standard output")
        ->required()
        ->type_name("FILE");
    command->add_option("--log", options->logs, "Read server logs instead; - is standard input")
        ->type_name("FILE ...");
    AddSettingOptions(*command, options->settings);
    AddWatchOptions(*command, options->watch);
    AddCeilingOptions(*command, options->ceilings);
    command->callback(
        [options, &invocation] { invocation.run = [options] { return WriteReport(*options); }; });
}

}  // namespace walsizer::cli
