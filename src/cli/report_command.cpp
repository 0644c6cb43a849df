// `walsizer report`
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/advice_source.hpp"
#include "cli/command.hpp"
#include "cli/report/report_page.hpp"
#include "cli/show/extension.hpp"

namespace walsizer::cli {

namespace {

struct ReportOptions {
    AdviceSource source;
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
    if (!options.source.logs.empty()) return WriteAdvice(AdviseFromLogs(options.source), options.output);
    Connection connection = Connection::Open(options.source.connection);
    if (HasExtension(connection)) {
        RequireExtension(connection);
        Write(options.output, Page(ReportOf(connection)));
        return ReadStatus(connection).NeedsAttention() ? kFinding : kNothingFound;
    }
    return WriteAdvice(AdviseFromServer(connection, options.source), options.output);
}

}  // namespace

void AddReport(CLI::App& program, Invocation& invocation) {
    const auto options = std::make_shared<ReportOptions>();
    CLI::App* command =
        program.add_subcommand("report",
                               "Write one self-contained HTML page: of the extension's history, of a "
                               "server watched now, or of its logs");
    command->set_help_flag("-?,--help", "Show this help");
    command->add_option("-o,--output", options->output, "The page to write; - is standard output")
        ->required()
        ->type_name("FILE");
    AddSourceOptions(*command, options->source);
    command->callback(
        [options, &invocation] { invocation.run = [options] { return WriteReport(*options); }; });
}

}  // namespace walsizer::cli
