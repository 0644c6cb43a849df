// `walsizer advise`
#include <memory>

#include "cli/advice_source.hpp"
#include "cli/command.hpp"
#include "cli/print_advice.hpp"

namespace walsizer::cli {

namespace {

Advice Advise(const AdviceSource& source) {
    if (!source.logs.empty()) return AdviseFromLogs(source);
    Connection connection = Connection::Open(source.connection);
    return AdviseFromServer(connection, source);
}

}  // namespace

void AddAdvise(CLI::App& program, Invocation& invocation) {
    const auto source = std::make_shared<AdviceSource>();
    CLI::App* command =
        program.add_subcommand("advise",
                               "Tell what max_wal_size should be: watch a server, which needs no "
                               "extension, or read its logs");
    command->set_help_flag("-?,--help", "Show this help");
    command->footer(
        "With --log, settings that the logs do not show are PostgreSQL's defaults, unless\n"
        "an option tells them. Logs may be of any form and size, compressed with gzip or\n"
        "zstd, in any order and language.");
    AddSourceOptions(*command, *source);
    AddOutputOptions(*command, invocation.output);
    command->callback([source, &invocation] {
        invocation.run = [source, &invocation] {
            const Advice advice = Advise(*source);
            PrintAdvice(advice, invocation.output);
            return advice.HasFinding() ? kFinding : kNothingFound;
        };
    });
}

}  // namespace walsizer::cli
