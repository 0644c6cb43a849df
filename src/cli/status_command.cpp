// `walsizer status` and `walsizer watch`
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/quantity.hpp"
#include "cli/server/interrupt.hpp"
#include "cli/server/local_time.hpp"
#include "cli/show/print_status.hpp"
#include "cli/show/terminal.hpp"

namespace walsizer::cli {

namespace {

constexpr int kDecisionsShown = 5;
constexpr std::size_t kRatesKept = 500;

std::string Where(const Connection& connection) {
    const int version = connection.version();
    return fmt::format("{}, PostgreSQL {}.{}", connection.Where(), version / 10000, version % 10000);
}

nlohmann::ordered_json ParseServerJson(const std::string& text) {
    return nlohmann::ordered_json::parse(text);
}

// A row of JSON as a heading and a line of CSV.
std::string AsCsv(const nlohmann::ordered_json& row, bool heading) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : row.items()) {
        names.push_back(name);
        values.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
    }
    return (heading ? CsvRow(names) : "") + CsvRow(values);
}

int PrintStatus(const ConnectionOptions& where, const OutputOptions& output) {
    Connection connection = Connection::Open(where);
    RequireExtension(connection);
    const ExtensionStatus status = ReadStatus(connection);
    std::string text;
    if (output.format == OutputFormat::kText) {
        text = StatusAsText(Where(connection), status, ReadDecisions(connection, kDecisionsShown),
                            Style::ForStdout(output));
    } else if (output.format == OutputFormat::kJson) {
        nlohmann::ordered_json json = {{"source", Where(connection)}};
        json["status"] = ParseServerJson(StatusAsJson(connection));
        json["decisions"] = ParseServerJson(DecisionsAsJson(connection, kDecisionsShown));
        text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    } else {
        text = AsCsv(ParseServerJson(StatusAsJson(connection)), true);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return status.NeedsAttention() ? kFinding : kNothingFound;
}

struct LiveOptions {
    std::int64_t count = 0;  // 0: until the user ends it
    Micros interval = kSecond;
};

class Live {
  public:
    Live(const ConnectionOptions& where, const LiveOptions& options, const OutputOptions& output)
        : connection_(Connection::Open(where)),
          options_(options),
          output_(output),
          style_(Style::ForStdout(output)),
          glyphs_(TerminalHasUtf8()) {
        RequireExtension(connection_);
        data_.where = Where(connection_);
    }

    int Run() {
        CatchInterrupts();
        const bool screen =
            output_.format == OutputFormat::kText && options_.count == 0 && isatty(STDOUT_FILENO) == 1;
        if (screen) {
            Redraw();
        } else {
            PrintLines();
        }
        return data_.status.NeedsAttention() ? kFinding : kNothingFound;
    }

  private:
    void Refresh() {
        data_.now = TimestampNow();
        try {
            if (!data_.trouble.empty()) connection_.Reconnect();
            data_.status = ReadStatus(connection_);
            data_.checkpoints = ReadCheckpoints(connection_, 100);
            data_.decisions = ReadDecisions(connection_, kDecisionsShown);
            data_.trouble.clear();
            data_.rates.push_back(std::max(data_.status.wal_rate, 0.0));
            if (data_.rates.size() > kRatesKept) data_.rates.erase(data_.rates.begin());
        } catch (const std::runtime_error& error) {
            const std::string why = error.what();
            data_.trouble = why.substr(0, why.find('\n'));
        }
    }

    void Redraw() {
        Terminal terminal;
        Micros next = MonotonicNow();
        while (!Interrupted()) {
            Refresh();
            if (Interrupted()) break;
            terminal.Show(DrawLive(data_, Terminal::Size(), glyphs_, style_));
            next += options_.interval;
            while (!Interrupted()) {
                const Micros left = next - MonotonicNow();
                if (left <= 0) break;
                if (terminal.WaitForQuit(left)) return;
                if (TookResize()) terminal.Show(DrawLive(data_, Terminal::Size(), glyphs_, style_));
            }
            next = std::max(next, MonotonicNow());
        }
    }

    void PrintLines() {
        Micros next = MonotonicNow();
        for (std::int64_t line = 0; !Interrupted(); ++line) {
            if (options_.count > 0 && line == options_.count) break;
            Refresh();
            if (Interrupted()) break;
            PrintLine(line == 0);
            if (options_.count > 0 && line + 1 == options_.count) break;
            next = std::max(next + options_.interval, MonotonicNow());
            while (!Interrupted() && MonotonicNow() < next) WaitFor(next - MonotonicNow());
        }
    }

    void PrintLine(bool first) {
        std::string text;
        if (output_.format == OutputFormat::kText) {
            text = (first ? LiveHeading() + "\n" : "") + LiveLine(data_) + "\n";
        } else if (data_.trouble.empty()) {
            nlohmann::ordered_json row;
            try {
                row = ParseServerJson(StatusAsJson(connection_));
            } catch (const std::runtime_error&) {
                return;  // lost between two statements: the next look tells
            }
            text = output_.format == OutputFormat::kJson ? row.dump() + "\n" : AsCsv(row, first);
        }
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
        if (std::ferror(stdout) != 0) throw std::runtime_error("cannot write the output");
    }

    Connection connection_;
    const LiveOptions& options_;
    const OutputOptions& output_;
    LiveData data_;
    Style style_;
    Glyphs glyphs_;
};

}  // namespace

void AddStatus(CLI::App& program, Invocation& invocation) {
    const auto where = std::make_shared<ConnectionOptions>();
    CLI::App* command =
        program.add_subcommand("status", "Show what the extension sees, decides and is limited by");
    command->set_help_flag("-?,--help", "Show this help");
    AddConnectionOptions(*command, *where);
    AddOutputOptions(*command, invocation.output);
    command->callback([where, &invocation] {
        invocation.run = [where, &invocation] { return PrintStatus(*where, invocation.output); };
    });
}

void AddWatch(CLI::App& program, Invocation& invocation) {
    struct Options {
        ConnectionOptions connection;
        LiveOptions live;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("watch", "Follow the extension live: WAL, rate, checkpoints");
    command->set_help_flag("-?,--help", "Show this help");
    AddConnectionOptions(*command, options->connection);
    command
        ->add_option(
            "--count", options->live.count,
            "Print so many lines and end; without it a screen is redrawn (lines, where no terminal is)")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command
        ->add_option_function<std::string>(
            "--interval",
            [options](const std::string& text) {
                if (!ParseTime(text, kSecond, options->live.interval) ||
                    options->live.interval < 100 * kMillisecond)
                    throw CLI::ValidationError("--interval", "\"" + text + "\" is no time from 100ms on");
            },
            "Time between two looks (1s)")
        ->type_name("TIME");
    AddOutputOptions(*command, invocation.output);
    command->callback([options, &invocation] {
        invocation.run = [options, &invocation] {
            return Live(options->connection, options->live, invocation.output).Run();
        };
    });
}

}  // namespace walsizer::cli
