#include "simulator/trace.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "simulator/trace_line.hpp"

namespace walsizer::simulator {

namespace {

// A typing error in a repeat must not fill the machine.
constexpr std::size_t kMostSteps = 2'000'000;

// Rates and working sets; ends at the end of the line or at a word that belongs to the caller.
PaperLoad ParseLoad(TraceLine& line) {
    PaperLoad load;
    if (line.Take("records")) load.records = line.ByteRate("rate of WAL records");
    for (unsigned sets = 0; line.Take("touches"); ++sets) {
        if (sets == PaperLoad::kSets) line.Complain("a load has at most six working sets");
        load.sets[sets].touches = line.PerSecond("rate of page touches");
        if (line.Take("of")) load.sets[sets].pages = std::max(line.Number("number of pages"), 1.0);
    }
    return load;
}

PaperLoad Between(const PaperLoad& from, const PaperLoad& to, double part) {
    const auto mix = [part](double a, double b) { return a + (b - a) * part; };
    PaperLoad load = from;
    load.records = mix(from.records, to.records);
    for (unsigned i = 0; i < PaperLoad::kSets; ++i) {
        load.sets[i].touches = mix(from.sets[i].touches, to.sets[i].touches);
        load.sets[i].pages = mix(from.sets[i].pages, to.sets[i].pages);
    }
    return load;
}

class Parser {
  public:
    Parser(const std::string& text, const std::string& name) {
        trace_.name = name;
        std::istringstream lines(text);
        int number = 0;
        for (std::string text_line; std::getline(lines, text_line);) {
            ++number;
            if (trace_.title.empty() && text_line.rfind("# ", 0) == 0) trace_.title = text_line.substr(2);
            TraceLine line(name + ":" + std::to_string(number), text_line);
            if (!line.AtEnd()) Parse(line);
        }
        const TraceLine end(name + ":" + std::to_string(number), "");
        if (!repeats_.empty()) end.Complain("a repeat has no end");
        if (trace_.Length() <= 0)
            end.Complain("the trace has no load: a line such as \"for 10min records 5MB/s\"");
    }
    Trace Take() {
        for (TraceStep& step : trace_.steps) step.load.image_size = image_size_;
        return std::move(trace_);
    }

  private:
    struct Repeat {
        std::size_t from;
        std::int64_t times;
    };

    void Parse(TraceLine& line) {
        const std::string word = line.Word("a keyword");
        if (word == "set") {
            Set(line);
        } else if (word == "for") {
            const Micros time = line.Duration("duration");
            AddLoad(line, time, ParseLoad(line));
        } else if (word == "ramp") {
            Ramp(line);
        } else if (word == "spikes") {
            Spikes(line);
        } else if (word == "checkpoint") {
            Add(line, {TraceStep::Kind::kCheckpoint, 0, {}});
        } else if (word == "statement") {
            Add(line, {TraceStep::Kind::kStatement, line.Duration("duration"), {}});
        } else if (word == "crash") {
            Add(line, {TraceStep::Kind::kCrash, 0, {}});
        } else if (word == "repeat") {
            repeats_.push_back({trace_.steps.size(), line.Count("number of repetitions")});
        } else if (word == "end") {
            End(line);
        } else {
            line.Complain(
                "\"" + word +
                "\" is no keyword: set, for, ramp, spikes, checkpoint, statement, crash, repeat, end");
        }
        line.ExpectEnd();
    }

    void Set(TraceLine& line) {
        const std::string name = line.Word("the name of a setting");
        if (name == "max_wal_size")
            trace_.server.max_wal_size = line.Size("size");
        else if (name == "min_wal_size")
            trace_.min_wal_size = line.Size("size");
        else if (name == "wal_segment_size")
            trace_.server.segment_size = line.Size("size");
        else if (name == "checkpoint_timeout")
            trace_.server.checkpoint_timeout = line.Duration("duration");
        else if (name == "checkpoint_completion_target")
            trace_.server.completion_target = line.Number("share");
        else if (name == "max")
            trace_.tuner.max = line.Size("size");
        else if (name == "max_recovery_time")
            trace_.tuner.max_recovery_time = line.Duration("duration");
        else if (name == "disk_reserve")
            trace_.tuner.disk_reserve = line.Size("size");
        else if (name == "shrink_after")
            trace_.tuner.shrink_after = line.Duration("duration");
        else if (name == "disk_size")
            trace_.disk_size = line.Size("size");
        else if (name == "disk_used")
            trace_.disk_used = line.Size("size");
        else if (name == "replay_rate")
            trace_.replay_rate = line.ByteRate("rate");
        else if (name == "write_rate")
            trace_.write_rate = line.PerSecond("rate of pages");
        else if (name == "reload_delay")
            trace_.reload_delay = line.Duration("duration");
        else if (name == "image_size")
            image_size_ = static_cast<double>(line.Size("size"));
        else if (name == "seed")
            random_.seed(static_cast<std::uint64_t>(line.Count("seed")));
        else if (name == "steady")
            trace_.steady = line.YesOrNo("steady");
        else
            line.Complain("\"" + name + "\" is no setting of a trace");
        Check(line);
    }

    void Check(const TraceLine& line) const {
        const Bytes segment = trace_.server.segment_size;
        if (segment < kMiB || segment > kGiB || (segment & (segment - 1)) != 0)
            line.Complain("wal_segment_size is a power of two from 1MB to 1GB");
        if (trace_.server.max_wal_size < 2 * kMiB) line.Complain("max_wal_size is at least 2MB");
        if (trace_.server.completion_target > 1) line.Complain("checkpoint_completion_target is from 0 to 1");
        if (trace_.server.checkpoint_timeout < kSecond) line.Complain("checkpoint_timeout is at least 1s");
        if (trace_.replay_rate <= 0 || trace_.write_rate <= 0)
            line.Complain("a rate of 0 would last for ever");
    }

    void AddLoad(const TraceLine& line, Micros time, const PaperLoad& load) {
        if (time > 0) Add(line, {TraceStep::Kind::kLoad, time, load});
    }
    void Add(const TraceLine& line, const TraceStep& step) {
        if (trace_.steps.size() >= kMostSteps) line.Complain("the trace has more than two million steps");
        trace_.steps.push_back(step);
    }

    void Ramp(TraceLine& line) {
        const Micros time = line.Duration("duration");
        line.Expect("in");
        const std::int64_t steps = line.Count("number of steps");
        line.Expect("steps");
        line.Expect("from");
        const PaperLoad from = ParseLoad(line);
        line.Expect("to");
        const PaperLoad to = ParseLoad(line);
        for (std::int64_t i = 0; i < steps; ++i)
            AddLoad(line, time / steps,
                    Between(from, to, (static_cast<double>(i) + 0.5) / static_cast<double>(steps)));
    }

    // Not the standard distributions: they differ between libraries, and a trace must not.
    double Uniform() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }

    void Spikes(TraceLine& line) {
        Micros left = line.Duration("duration");
        line.Expect("every");
        const auto every = static_cast<double>(line.Duration("mean distance"));
        line.Expect("lasting");
        Micros shortest = 0;
        Micros longest = 0;
        line.DurationRange("range of durations", shortest, longest);
        line.Expect("base");
        const PaperLoad base = ParseLoad(line);
        line.Expect("peak");
        const PaperLoad peak = ParseLoad(line);
        if (every + static_cast<double>(longest) < kSecond) line.Complain("spikes need a mean distance");
        while (left > 0) {
            const Micros gap = std::min(left, static_cast<Micros>(-std::log1p(-Uniform()) * every));
            AddLoad(line, gap, base);
            left -= gap;
            const double length = Uniform() * static_cast<double>(longest - shortest);
            const Micros spike = std::min(left, shortest + static_cast<Micros>(length));
            AddLoad(line, spike, peak);
            left -= spike;
        }
    }

    void End(TraceLine& line) {
        if (repeats_.empty()) line.Complain("end without a repeat");
        const Repeat repeat = repeats_.back();
        repeats_.pop_back();
        const std::size_t to = trace_.steps.size();
        for (std::int64_t i = 1; i < repeat.times && repeat.from < to; ++i)
            for (std::size_t step = repeat.from; step < to; ++step) Add(line, TraceStep(trace_.steps[step]));
    }

    Trace trace_;
    double image_size_ = PaperLoad().image_size;
    std::mt19937_64 random_;
    std::vector<Repeat> repeats_;
};

}  // namespace

Micros Trace::Length() const {
    Micros length = 0;
    for (const TraceStep& step : steps)
        if (step.kind == TraceStep::Kind::kLoad) length += step.time;
    return length;
}

Trace ParseTrace(const std::string& text, const std::string& name) {
    return Parser(text, name).Take();
}

Trace ReadTrace(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw TraceError(path + ": cannot be read");
    Trace trace = ParseTrace(text.str(), path);
    const std::filesystem::path where(path);
    trace.name = where.stem().string();
    trace.held_out = where.parent_path().filename() == "held_out";
    return trace;
}

std::vector<Trace> ReadTraces(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
        if (entry.path().extension() == ".trace") paths.push_back(entry.path().string());
    if (paths.empty()) throw TraceError(folder + ": there are no *.trace files here");
    std::sort(paths.begin(), paths.end());
    std::vector<Trace> traces;
    for (const std::string& path : paths) traces.push_back(ReadTrace(path));
    return traces;
}

Trace Scaled(const Trace& trace, double factor) {
    Trace scaled = trace;
    const double larger = std::max(factor, 1.0);
    scaled.tuner.max = static_cast<Bytes>(static_cast<double>(trace.tuner.max) * larger);
    scaled.tuner.replay_rate = trace.replay_rate * larger;
    scaled.replay_rate *= larger;
    scaled.write_rate *= larger;
    for (TraceStep& step : scaled.steps) {
        step.load.records *= factor;
        for (PageSet& set : step.load.sets) {
            set.touches *= factor;
            set.pages *= factor;
        }
    }
    return scaled;
}

}  // namespace walsizer::simulator
