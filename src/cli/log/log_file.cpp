#include "cli/log/log_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cli/log/line.hpp"

namespace walsizer::cli {

namespace {

// So many events tell a file's direction.
constexpr std::size_t kDirection = 16;
// A file that is newest first must be read to its end before its oldest event is known. Consoles export
// thousands; more than this is refused, not held in memory.
constexpr std::size_t kMostReversed = 1'000'000;

}  // namespace

LogFile::LogFile(std::string path, std::size_t index)
    : path_(std::move(path)), index_(index), scanner_(OpenInput(path_)) {
    const std::string name = path_ == "-" ? "standard input" : path_;
    const std::string_view beginning = scanner_.Beginning();
    if (beginning.empty())
        throw std::runtime_error(name + (scanner_.truncated()
                                             ? ": the compressed data breaks off before anything can be read"
                                             : ": is empty"));
    if (!LooksLikeServerLog(beginning)) {
        // Excerpts may have no level at all; they are logs when they have an event.
        FillUp(1);
        if (events_.empty())
            throw std::runtime_error(fmt::format(
                "{}: is no PostgreSQL server log: no line reads like one (\"LOG:  ...\", csvlog or jsonlog)",
                name));
    }
}

bool LogFile::ReadOne() {
    Candidate candidate;
    while (scanner_.Next(candidate)) {
        Event event;
        const Reading reading = ReadLine(candidate, event);
        if (reading == Reading::kUnreadable) ++unparsed_;
        if (reading != Reading::kRead) continue;
        events_.push_back(std::move(event));
        return true;
    }
    return false;
}

void LogFile::FillUp(std::size_t count) {
    while (events_.size() < count && ReadOne()) {
    }
}

void LogFile::TurnIfNewestFirst() {
    FillUp(kDirection);
    std::size_t up = 0;
    std::size_t down = 0;
    for (std::size_t i = 1; i < events_.size(); ++i) {
        const auto& before = events_[i - 1].at;
        const auto& after = events_[i].at;
        if (!before || !after || before->dated != after->dated || before->at == after->at) continue;
        ++(before->at < after->at ? up : down);
    }
    if (down <= up) return;
    while (ReadOne())
        if (events_.size() > kMostReversed)
            throw std::runtime_error(
                fmt::format("{}: is newest first and too long to be turned; sort it by time first", path_));
    std::reverse(events_.begin(), events_.end());
}

const Event* LogFile::Peek() {
    if (!begun_) {
        begun_ = true;
        TurnIfNewestFirst();
    }
    FillUp(1);
    return events_.empty() ? nullptr : &events_.front();
}

void LogFile::Pop() {
    events_.pop_front();
}

}  // namespace walsizer::cli
