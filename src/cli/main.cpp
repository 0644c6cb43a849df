// The program: the engine's advice for servers where no extension can be loaded, and the extension's own
// figures for people.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/command.hpp"

namespace walsizer::cli {

namespace {

int Run(int argc, char** argv) {
    Invocation invocation;
    CLI::App program("walsizer: what max_wal_size should be, and why", "walsizer");
    program.set_help_flag("-?,--help", "Show this help, or that of a command");
    program.add_flag_callback(
        "-V,--version",
        [] {
            fmt::print("walsizer {}\n", WALSIZER_VERSION);
            throw CLI::Success();
        },
        "Show the version");
    program.footer(
        "Exit status: 0 nothing to do, 1 something found (another max_wal_size is\n"
        "recommended, or a warning), 2 an error.");
    program.require_subcommand(1);
    AddAdvise(program, invocation);
    AddStatus(program, invocation);
    AddWatch(program, invocation);
    AddReport(program, invocation);

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? kNothingFound : kError;
    }
    return invocation.run();
}

}  // namespace

}  // namespace walsizer::cli

int main(int argc, char** argv) {
    try {
        const int status = walsizer::cli::Run(argc, argv);
        // A full disk or a closed pipe must not look like success.
        if (std::fflush(stdout) != 0) {
            std::perror("walsizer: cannot write the output");
            return walsizer::cli::kError;
        }
        return status;
    } catch (const std::exception& error) {
        std::fflush(stdout);
        fmt::print(stderr, "walsizer: {}\n", error.what());
        return walsizer::cli::kError;
    }
}
