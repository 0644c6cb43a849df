#include "cli/log/line.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "cli/log/stamp.hpp"

namespace walsizer::cli {

namespace {

using Piece = re2::StringPiece;
constexpr std::string_view kBox = "│";
// The longest prefix a line may have before its level; beyond it a level is part of a statement.
constexpr std::size_t kLongestPrefix = 1000;

Piece ToPiece(std::string_view text) {
    return Piece(text.data(), text.size());
}

std::string_view Trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
        text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return text;
}

// The frame that terminal programs draw around what they show.
std::string_view WithoutFrame(std::string_view line) {
    line = Trimmed(line);
    if (line.substr(0, kBox.size()) == kBox) line = Trimmed(line.substr(kBox.size()));
    if (line.size() >= kBox.size() && line.substr(line.size() - kBox.size()) == kBox)
        line = Trimmed(line.substr(0, line.size() - kBox.size()));
    return line;
}

struct LevelAt {
    Level level = Level::kUnknown;
    std::size_t word = 0;     // where it begins
    std::size_t message = 0;  // where the message begins
};

// The first "LEVEL:" that is followed by a space.
LevelAt FindLevel(std::string_view line) {
    LevelAt found;
    const std::size_t limit = std::min(line.size(), kLongestPrefix);
    for (std::size_t colon = line.find(':'); colon < limit; colon = line.find(':', colon + 1)) {
        if (colon + 1 >= line.size() || line[colon + 1] != ' ') continue;
        std::size_t word = colon;
        // French puts a space in front of the colon.
        std::size_t end = colon;
        while (end > 0 && line[end - 1] == ' ') --end;
        word = end;
        while (word > 0 && (static_cast<unsigned char>(line[word - 1]) >= 0x80 ||
                            std::isalnum(static_cast<unsigned char>(line[word - 1])) != 0))
            --word;
        const Level level = LevelOf(line.substr(word, end - word));
        if (level == Level::kUnknown) continue;
        found = {level, word, colon + 1};
        while (found.message < line.size() && line[found.message] == ' ') ++found.message;
        // log_error_verbosity = verbose puts the error code in front.
        static const RE2 kCode(R"(^[0-9A-Z]{5}: +)");
        Piece message = ToPiece(line.substr(found.message));
        const std::size_t before = message.size();
        if (RE2::Consume(&message, kCode)) found.message += before - message.size();
        return found;
    }
    return found;
}

// Tokens of letters: what tells servers from each other, without what changes from line to line.
std::string NameOf(std::string_view text) {
    std::string name;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t from = text.find_first_not_of(" \t|[]<>()", at);
        if (from == std::string_view::npos) break;
        const std::size_t end = std::min(text.find_first_of(" \t|[]<>()", from), text.size());
        std::string_view token = text.substr(from, end - from);
        while (!token.empty() && token.back() == ':') token.remove_suffix(1);
        at = end;
        const bool has_letter = std::any_of(token.begin(), token.end(), [](char c) {
            return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
        });
        // user=,db=,client= says nothing about the server; a log's own name is that of one of its files.
        if (!has_letter || token.find('=') != std::string_view::npos) continue;
        if (FindStamp(token)) continue;  // a container's own, in front of PostgreSQL's
        if (token.size() > 4 &&
            (token.substr(token.size() - 4) == ".log" || token.substr(token.size() - 4) == ".csv"))
            continue;
        if (token == "stdout" || token == "stderr" || token == "F" || token == "P") continue;
        if (!name.empty()) name += ' ';
        name.append(token.substr(0, 80));
        if (name.size() > 200) break;
    }
    return name;
}

// RFC 5424, with or without an octet count, and RFC 3164 as rsyslog, systemd and PostgreSQL write it.
bool ReadSyslog(std::string_view prefix, Event& event) {
    static const RE2 k5424(R"(^(?:\d+ )?<\d+>1 (\S+) (\S+) (\S+) (\S+) (\S+) *(?:\[([A-Z_]+)\])?)");
    static const RE2 k3164(
        R"(^(?:<\d+>)?(?:[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (\S+) ([^\s:\[]+)(?:\[(\d+)\])?:)");
    std::string time, host, program, process, id, colour;
    if (RE2::PartialMatch(ToPiece(prefix), k5424, &time, &host, &program, &process, &id, &colour)) {
        event.server = host + " " + program + (colour.empty() ? "" : " " + colour);
        std::from_chars(process.data(), process.data() + process.size(), event.pid);
        return true;
    }
    if (RE2::PartialMatch(ToPiece(prefix), k3164, &host, &program, &process)) {
        event.server = host + " " + program;
        std::from_chars(process.data(), process.data() + process.size(), event.pid);
        return true;
    }
    return false;
}

void ReadPrefix(std::string_view prefix, Event& event) {
    static const RE2 kPid(R"(\[(\d{1,10})(?:-\d+)?\])");
    static const RE2 kNamedPid(R"(\bp(?:id)?[=:](\d{1,10})\b)");
    static const RE2 kRds(R"(\d\d UTC:[^:]*:[^@:]*@[^:]*:\[\d+\]:)");
    event.rds = RE2::PartialMatch(ToPiece(prefix), kRds);
    const auto stamp = FindStamp(prefix);
    if (stamp) event.at = stamp->instant;
    if (ReadSyslog(prefix, event)) return;
    event.server = NameOf(stamp ? prefix.substr(0, stamp->begin) : std::string_view());
    std::string pid;
    const Piece after = ToPiece(prefix.substr(stamp ? stamp->end : 0));
    if (RE2::PartialMatch(after, kPid, &pid) || RE2::PartialMatch(after, kNamedPid, &pid) ||
        RE2::PartialMatch(ToPiece(prefix), kPid, &pid))
        std::from_chars(pid.data(), pid.data() + pid.size(), event.pid);
}

// A line without a level: what stands in front of the message may be a container's name, a stamp and a
// number, but no words that would make the message part of a statement.
bool IsBarePrefix(std::string_view prefix) {
    if (prefix.size() > 120 || prefix.find_first_of("\"'`$") != std::string_view::npos) return false;
    const auto stamp = FindStamp(prefix);
    const std::string_view after = Trimmed(prefix.substr(stamp ? stamp->end : 0));
    if (!stamp && !after.empty()) return false;
    return std::none_of(after.begin(), after.end(),
                        [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

// Identical lines in two files are copies only when the line says exactly when it was written.
void Identify(std::string_view message, Event& event) {
    if (!event.at || !event.at->dated) return;
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
    for (const char c : message) mix(static_cast<unsigned char>(c));
    mix(static_cast<std::uint64_t>(event.at->at));
    mix(static_cast<std::uint64_t>(event.pid));
    event.identity = hash == 0 ? 1 : hash;
}

}  // namespace

Reading ReadTextLine(std::string_view line, std::string_view rest, Event& event) {
    const LevelAt level = FindLevel(line);
    if (level.level == Level::kOther) return Reading::kNotOurs;
    if (level.level != Level::kUnknown) {
        std::string_view message = line.substr(level.message);
        // The quotes of a console or a spreadsheet around the line: one more than the message has itself.
        if (std::count(message.begin(), message.end(), '"') % 2 == 1)
            message = message.substr(0, message.rfind('"'));
        const Reading reading = ReadMessage(message, rest, level.level, event);
        if (reading == Reading::kNotOurs) return reading;
        ReadPrefix(line.substr(0, level.word), event);
        Identify(message, event);
        return reading;
    }
    // Excerpts and some collectors drop the level: the message begins where one of ours does.
    for (std::size_t at = 0; at < std::min<std::size_t>(line.size(), 120); ++at) {
        if (at > 0 && line[at - 1] != ' ') continue;
        const Reading reading = ReadMessage(line.substr(at), rest, Level::kUnknown, event);
        if (reading == Reading::kNotOurs) continue;
        if (!IsBarePrefix(line.substr(0, at))) {
            event = Event();
            return Reading::kNotOurs;
        }
        ReadPrefix(line.substr(0, at), event);
        Identify(line.substr(at), event);
        return reading;
    }
    return Reading::kNotOurs;
}

// csvlog's columns are the same in 9.4 to 19: log_time first, process_id 4th, error_severity 12th, message
// 14th. A part that was pasted from one, or an export with columns of its own, is read as text.
bool ReadCsvLine(std::string_view line, std::string_view rest, Event& event, Reading& reading) {
    constexpr std::size_t kTime = 0, kPid = 3, kSeverity = 11, kMessage = 13;
    std::vector<std::string> fields;
    std::string field;
    bool quoted = false;
    for (std::size_t at = 0; at <= line.size() && fields.size() <= kMessage; ++at) {
        const bool end = at == line.size();
        if (!end && line[at] == '"') {
            if (quoted && at + 1 < line.size() && line[at + 1] == '"')
                field += line[++at];
            else
                quoted = !quoted;
        } else if (end || (line[at] == ',' && !quoted)) {
            fields.push_back(std::move(field));
            field.clear();
        } else {
            field += line[at];
        }
    }
    if (fields.size() <= kMessage) return false;
    const Level level = LevelOf(fields[kSeverity]);
    const auto stamp = FindStamp(fields[kTime]);
    if (level == Level::kUnknown || !stamp) return false;
    reading = ReadMessage(fields[kMessage], rest, level, event);
    event.at = stamp->instant;
    event.server = NameOf(std::string_view(fields[kTime]).substr(0, stamp->begin));
    std::from_chars(fields[kPid].data(), fields[kPid].data() + fields[kPid].size(), event.pid);
    Identify(fields[kMessage], event);
    return true;
}

Reading ReadLine(const Candidate& candidate, Event& event) {
    std::string_view line = WithoutFrame(candidate.line);
    Reading reading = Reading::kNotOurs;
    const std::size_t brace = line.find('{');
    if (brace != std::string_view::npos && brace < 200 &&
        line.find('"', brace) == line.find_first_not_of(" ", brace + 1) && ReadJsonLine(line, event, reading))
        return reading;
    if (line.find(",") != std::string_view::npos && ReadCsvLine(line, candidate.rest, event, reading))
        return reading;
    return ReadTextLine(line, candidate.rest, event);
}

bool LooksLikeServerLog(std::string_view beginning) {
    static const RE2 kCsv(R"re(,"?(LOG|ERROR|FATAL|WARNING|PANIC)"?,"?[0-9A-Z]{5}"?,)re");
    static const RE2 kJson(R"re("(error_severity|textPayload|log|record|message)" ?:)re");
    std::size_t at = 0;
    for (int lines = 0; at < beginning.size() && lines < 500; ++lines) {
        const std::size_t end = std::min(beginning.find('\n', at), beginning.size());
        const std::string_view line = beginning.substr(at, std::min<std::size_t>(end - at, 2000));
        at = end + 1;
        const LevelAt level = FindLevel(line);
        if (level.level != Level::kUnknown && FindStamp(line.substr(0, level.word))) return true;
        if (RE2::PartialMatch(ToPiece(line), kCsv)) return true;
        if (RE2::PartialMatch(ToPiece(line), kJson) && line.find("LOG") != std::string_view::npos)
            return true;
    }
    return false;
}

}  // namespace walsizer::cli
