// Compares policies for max_wal_size on a simulated server. Built by `make simulate`; see docs/simulator.md.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include "simulator/report.hpp"

namespace {

using namespace walsizer;
using namespace walsizer::simulator;

constexpr const char* kUsage =
    "usage: simulate compare [--csv FILE] FOLDER|TRACE...   policies side by side\n"
    "       simulate steps TRACE                            what walsizer does, change by change\n"
    "       simulate run TRACE                              the server alone, at the trace's own size\n"
    "       simulate fleet [--servers N] [--threads N] TRACE   many such servers under walsizer\n";

int Complain(const std::string& message) {
    std::cerr << "simulate: " << message << '\n' << kUsage;
    return 2;
}

std::vector<Trace> Load(const std::vector<std::string>& paths) {
    std::vector<Trace> traces;
    for (const std::string& path : paths) {
        if (path.size() > 6 && path.rfind(".trace") == path.size() - 6) {
            traces.push_back(ReadTrace(path));
            continue;
        }
        for (Trace& trace : ReadTraces(path)) traces.push_back(std::move(trace));
    }
    return traces;
}

int CompareAll(const std::vector<std::string>& paths, const std::string& csv) {
    const std::vector<Trace> traces = Load(paths);
    std::vector<TraceResult> results(traces.size());
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i)
        threads.emplace_back([&] {
            for (std::size_t at = next++; at < traces.size(); at = next++) results[at] = Compare(traces[at]);
        });
    for (std::thread& thread : threads) thread.join();

    int broken = 0;
    for (const bool held_out : {false, true}) {
        std::vector<TraceResult> half;
        for (const TraceResult& result : results)
            if (result.trace->held_out == held_out) half.push_back(result);
        if (half.empty()) continue;
        std::cout << (held_out ? "Traces held out from tuning\n\n" : "Traces for tuning\n\n");
        PrintTables(std::cout, half);
        broken += PrintVerdict(std::cout, half);
        std::cout << '\n';
    }
    if (!csv.empty()) {
        std::ofstream file(csv);
        PrintCsv(file, results);
        if (!file.flush()) return Complain(csv + " cannot be written");
    }
    return broken > 0 ? 1 : 0;
}

int Steps(const Trace& trace) {
    WalsizerPolicy policy(trace.tuner, true);
    const RunResult run = RunPolicy(trace, policy);
    const Journal& journal = policy.journal();
    for (std::uint32_t age = journal.decisions.size(); age-- > 0;) {
        const DecisionRecord& decision = journal.decisions.Newest(age);
        const Micros at =
            decision.decided_at - journal.decisions.Newest(journal.decisions.size() - 1).decided_at;
        std::cout << '+' << DurationText(at).c_str() << ' ' << Name(decision.action) << ' '
                  << SizeText(decision.old_size).c_str() << " -> " << SizeText(decision.new_size).c_str()
                  << ": " << decision.reason.c_str() << '\n';
    }
    std::cout << run.figures.forced << " forced, " << run.figures.timed << " timed, " << run.figures.requested
              << " requested; ends at " << SizeText(run.final_size).c_str() << ", hindsight "
              << SizeText(HindsightSize(trace)).c_str() << '\n';
    return 0;
}

int RunAlone(const Trace& trace) {
    const Figures figures = RunFixed(trace, trace.server.max_wal_size).figures;
    std::cout << "forced " << figures.forced << "\ntimed " << figures.timed << "\nrequested "
              << figures.requested << "\nskipped " << figures.skipped << "\nwal_bytes "
              << static_cast<std::int64_t>(figures.record_bytes + figures.image_bytes) << "\nfpi_bytes "
              << static_cast<std::int64_t>(figures.image_bytes) << '\n';
    return 0;
}

// Servers of many sizes: the trace times 1/8 to 8.
int Fleet(const Trace& trace, int servers, int threads) {
    std::atomic<int> next{0};
    std::atomic<std::int64_t> forced{0};
    std::atomic<std::int64_t> looks{0};
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i)
        pool.emplace_back([&] {
            for (int at = next++; at < servers; at = next++) {
                const double part = servers > 1 ? static_cast<double>(at) / (servers - 1) : 0.5;
                const Trace scaled = Scaled(trace, std::exp2(6 * part - 3));
                WalsizerPolicy policy(scaled.tuner, true);
                const RunResult run = RunPolicy(scaled, policy);
                forced += run.figures.forced;
                looks += run.looks;
            }
        });
    for (std::thread& thread : pool) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::cout << servers << " servers, " << DurationText(trace.Length()).c_str() << " each: " << forced
              << " forced checkpoints, " << looks << " looks, " << took.count() << " s on " << threads
              << " threads, " << static_cast<double>(std::clock()) / CLOCKS_PER_SEC << " s of CPU time\n";
    return 0;
}

int Main(int count, char** arguments) {
    std::vector<std::string> paths;
    std::string csv;
    int servers = 1000;
    int threads = 2;
    for (int i = 2; i < count; ++i) {
        const std::string word = arguments[i];
        const bool option = word.rfind("--", 0) == 0;
        if (option && i + 1 >= count) return Complain(word + " needs a value");
        if (word == "--csv")
            csv = arguments[++i];
        else if (word == "--servers")
            servers = std::max(std::atoi(arguments[++i]), 1);
        else if (word == "--threads")
            threads = std::max(std::atoi(arguments[++i]), 1);
        else if (option)
            return Complain("unknown option " + word);
        else
            paths.push_back(word);
    }
    const std::string command = count > 1 ? arguments[1] : "";
    if (command == "compare" && !paths.empty()) return CompareAll(paths, csv);
    if (paths.size() != 1) return Complain(command.empty() ? "tell it what to do" : "tell it which trace");
    if (command == "steps") return Steps(ReadTrace(paths[0]));
    if (command == "run") return RunAlone(ReadTrace(paths[0]));
    if (command == "fleet") return Fleet(ReadTrace(paths[0]), servers, threads);
    return Complain("\"" + command + "\" is no command");
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return Main(count, arguments);
    } catch (const std::exception& error) {
        std::cerr << "simulate: " << error.what() << '\n';
        return 2;
    }
}
