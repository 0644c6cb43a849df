// `walsizer advise`
#include "cli/command.hpp"
#include "cli/print_advice.hpp"
#include "cli/server/advise_server.hpp"

namespace walsizer::cli {

void AddAdvise(CLI::App& program, Invocation& invocation) {
    struct Options {
        ConnectionOptions connection;
        WatchOptions watch;
        CeilingOptions ceilings;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "advise", "Watch a server without the extension, and tell what max_wal_size should be");
    command->set_help_flag("-?,--help", "Show this help");
    AddConnectionOptions(*command, options->connection);
    AddWatchOptions(*command, options->watch);
    AddCeilingOptions(*command, options->ceilings);
    AddOutputOptions(*command, invocation.output);
    command->callback([options, &invocation] {
        invocation.run = [options, &invocation] {
            const Advice advice = AdviseServer(options->connection, options->watch, options->ceilings);
            PrintAdvice(advice, invocation.output);
            return advice.HasFinding() ? kFinding : kNothingFound;
        };
    });
}

}  // namespace walsizer::cli
