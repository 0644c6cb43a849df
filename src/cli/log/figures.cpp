#include "cli/log/figures.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace walsizer::cli {

namespace {

bool IsDigit(char c) {
    return c >= '0' && c <= '9';
}
bool IsHex(char c) {
    return IsDigit(c) || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}
bool IsWordChar(char c) {
    return IsHex(c) || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '_';
}

struct Number {
    std::int64_t whole = 0;
    Micros as_seconds = -1;  // when it has decimals: 53.309
    bool at_end = false;     // nothing behind it: digits may be missing
    bool split = false;      // more digits follow after a space: a line was wrapped within the number
};

// The numbers of one part of the message.
std::vector<Number> NumbersOf(std::string_view part) {
    std::vector<Number> numbers;
    for (std::size_t at = 0; at < part.size() && numbers.size() < 8;) {
        if (!IsDigit(part[at])) {
            ++at;
            continue;
        }
        Number number;
        const char* end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data() + at, end, number.whole);
        if (error != std::errc()) break;
        const char* next = stop;
        // German writes a comma in front of the decimals.
        if (next + 1 < end && (*next == '.' || *next == ',') && IsDigit(next[1])) {
            std::int64_t decimals = 0;
            const char* from = next + 1;
            next = std::from_chars(from, std::min(end, from + 6), decimals).ptr;
            for (auto digits = next - from; digits < 6; ++digits) decimals *= 10;
            if (number.whole < 1'000'000'000) number.as_seconds = number.whole * kSecond + decimals;
        }
        number.at_end = next == end;
        const char* behind = next;
        while (behind < end && *behind == ' ') ++behind;
        number.split = behind > next && behind < end && IsDigit(*behind);
        numbers.push_back(number);
        at = static_cast<std::size_t>(next - part.data());
    }
    return numbers;
}

std::vector<Lsn> LsnsOf(std::string_view part) {
    std::vector<Lsn> lsns;
    for (std::size_t slash = part.find('/'); slash != std::string_view::npos;
         slash = part.find('/', slash + 1)) {
        std::size_t from = slash;
        while (from > 0 && IsHex(part[from - 1])) --from;
        std::size_t end = slash + 1;
        while (end < part.size() && IsHex(part[end])) ++end;
        const bool bounded =
            (from == 0 || !IsWordChar(part[from - 1])) && (end == part.size() || !IsWordChar(part[end]));
        if (!bounded || slash - from < 1 || slash - from > 8 || end - slash < 2 || end - slash > 9) continue;
        std::uint32_t high = 0;
        std::uint32_t low = 0;
        std::from_chars(part.data() + from, part.data() + slash, high, 16);
        std::from_chars(part.data() + slash + 1, part.data() + end, low, 16);
        lsns.push_back((static_cast<Lsn>(high) << 32) | low);
    }
    return lsns;
}

// What comes after "name=", for lines of which only pieces are left.
std::string_view After(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return {};
    return text.substr(at + name.size(), 24);
}

constexpr std::int64_t kMostKilobytes = 2147483647;

void ReadDistance(const Number& number, CheckpointFigures& figures) {
    // An int of kilobytes (xlog.c:LogCheckpointEnd()): beyond 2 TB it wraps, and the sign is no digit.
    if (number.split || number.whole > kMostKilobytes) return;
    figures.distance = number.whole * kKiB;
    figures.distance_cut = number.at_end;
}

// "wrote 8 buffers (0.0%)", "; 0 WAL file(s) added, 16 removed, 23 recycled", "; write=18.309 s, sync=...,
// total=...",
// "; sync files=80, longest=..., average=...", "; distance=633113 kB, estimate=...", "; lsn=..., redo
// lsn=...". 18 and later may have one part more at the beginning, for SLRU buffers.
bool ReadParts(std::string_view text, CheckpointFigures& figures) {
    enum class Expect { kTimes, kSyncFiles, kDistance, kLsn, kNothing } expect = Expect::kTimes;
    std::vector<Number> before;
    bool first = true;
    while (!text.empty() && expect != Expect::kNothing) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::vector<Number> numbers = NumbersOf(part);
        const auto decimals = std::count_if(numbers.begin(), numbers.end(),
                                            [](const Number& number) { return number.as_seconds >= 0; });
        if (first && !numbers.empty() && numbers[0].as_seconds < 0) figures.buffers = numbers[0].whole;
        first = false;
        switch (expect) {
            case Expect::kTimes:
                if (numbers.size() == 3 && decimals == 3 && !numbers[2].at_end) {
                    figures.write = numbers[0].as_seconds;
                    figures.sync = numbers[1].as_seconds;
                    figures.total = numbers[2].as_seconds;
                    if (before.size() == 3) figures.files_gone = before[1].whole + before[2].whole;
                    expect = Expect::kSyncFiles;
                }
                before = numbers;
                break;
            case Expect::kSyncFiles:
                if (numbers.size() >= 2 && numbers[1].as_seconds >= 0 && !numbers[1].at_end)
                    figures.longest_sync = numbers[1].as_seconds;
                expect = Expect::kDistance;
                break;
            case Expect::kDistance:
                if (!numbers.empty()) ReadDistance(numbers[0], figures);
                expect = Expect::kLsn;
                break;
            case Expect::kLsn: {
                const std::vector<Lsn> lsns = LsnsOf(part);
                // The second one may have lost digits when the line ends with it and that is no end of a
                // sentence; 16 and 17 end there as well, so it is compared with the first one.
                if (lsns.size() == 2 && lsns[1] <= lsns[0]) figures.redo = lsns[1];
                expect = Expect::kNothing;
                break;
            }
            case Expect::kNothing:
                break;
        }
    }
    return figures.total >= 0;
}

// Lines of which only pieces are left, in English.
bool ReadPieces(std::string_view text, CheckpointFigures& figures) {
    const auto distance = NumbersOf(After(text, "distance="));
    if (!distance.empty()) ReadDistance(distance[0], figures);
    const auto seconds = [&](std::string_view name) {
        const auto numbers = NumbersOf(After(text, name));
        return numbers.empty() || numbers[0].at_end ? Micros{-1} : numbers[0].as_seconds;
    };
    figures.write = seconds("write=");
    figures.sync = seconds(" sync=");
    figures.total = seconds("total=");
    const auto buffers = NumbersOf(After(text, "wrote "));
    if (!buffers.empty() && !buffers[0].at_end) figures.buffers = buffers[0].whole;
    return figures.distance >= 0 || figures.total >= 0 || figures.write >= 0;
}

// A wrapped line goes on without a time, a level or a brace of its own.
bool LooksLikeContinuation(std::string_view line) {
    if (line.empty() || line.find(":  ") != std::string_view::npos) return false;
    const std::string_view beginning = line.substr(0, 32);
    if (beginning.find("20") == 0 || beginning.front() == '{' || beginning.front() == '<') return false;
    return line.find(';') != std::string_view::npos || line.find('=') != std::string_view::npos ||
           line.find("kB") != std::string_view::npos || line.find("lsn") != std::string_view::npos;
}

bool IsWhole(const CheckpointFigures& figures) {
    return figures.total >= 0 && figures.distance >= 0 && !figures.distance_cut;
}

}  // namespace

bool ReadFigures(std::string_view text, std::string_view rest, CheckpointFigures& figures) {
    std::string joined(text);
    if (ReadParts(joined, figures) && IsWhole(figures)) return true;
    // At most four pieces: a message of 300 characters at 80 columns.
    for (int pieces = 0; pieces < 4 && !rest.empty(); ++pieces) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view next = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        while (!next.empty() && (next.back() == '\r' || next.back() == ' ')) next.remove_suffix(1);
        if (!LooksLikeContinuation(next)) break;
        // Wrapped at a space, or in the midst of a word: try both.
        for (const char* glue : {" ", ""}) {
            CheckpointFigures attempt;
            if (ReadParts(joined + glue + std::string(next), attempt) && IsWhole(attempt)) {
                figures = attempt;
                return true;
            }
        }
        joined += " ";
        joined.append(next);
    }
    if (figures.total >= 0) return true;
    figures = CheckpointFigures();
    return ReadPieces(text, figures);
}

Micros FirstSeconds(std::string_view text) {
    for (const Number& number : NumbersOf(text))
        if (number.as_seconds >= 0) return number.as_seconds;
    return -1;
}

Lsn FirstLsn(std::string_view text) {
    const std::vector<Lsn> lsns = LsnsOf(text);
    return lsns.empty() ? 0 : lsns.front();
}

}  // namespace walsizer::cli
