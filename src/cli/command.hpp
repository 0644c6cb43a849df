// A command of the program: adds itself to the command line and leaves behind what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/output.hpp"

namespace walsizer::cli {

// Exit status of every command. Usage errors are kError, too.
enum ExitStatus : int {
    kNothingFound = 0,
    kFinding = 1,  // something to do: another max_wal_size, or a warning
    kError = 2,
};

struct Invocation {
    OutputOptions output;
    std::function<int()> run;  // of the command that was given; throws std::exception for kError
};

// --format and --color, for commands that print.
void AddOutputOptions(CLI::App& command, OutputOptions& output);

void AddAdvise(CLI::App& program, Invocation& invocation);
void AddStatus(CLI::App& program, Invocation& invocation);
void AddWatch(CLI::App& program, Invocation& invocation);
void AddReport(CLI::App& program, Invocation& invocation);

}  // namespace walsizer::cli
