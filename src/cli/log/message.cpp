#include "cli/log/message.hpp"

#include <algorithm>
#include <charconv>

#include "cli/log/figures.hpp"
#include "cli/log/message_heads.hpp"

namespace walsizer::cli {

namespace {

// Seconds: checkpoint_timeout is at most a day, and the timer starts what WAL does not. More is damage.
constexpr std::int64_t kFurthestApart = 7 * 24 * 3600;

// The flags are never translated (xlog.c:LogCheckpointStart()). Both "wal time" is WAL's: it was due anyway.
Cause CauseOf(std::string_view flags, bool& any) {
    Cause cause = Cause::kUnknown;
    any = false;
    std::size_t at = 0;
    while (at < flags.size()) {
        while (at < flags.size() && (flags[at] == ' ' || flags[at] == '\t')) ++at;
        const std::size_t end = std::min(flags.find_first_of(" \t:,", at), flags.size());
        const std::string_view flag = flags.substr(at, end - at);
        at = end;
        if (flag.empty()) break;
        const auto raise = [&](Cause to) { cause = cause == Cause::kUnknown ? to : cause; };
        if (flag == "shutdown" || flag == "end-of-recovery") {
            cause = Cause::kRecovery;
        } else if (flag == "wal" || flag == "xlog") {
            if (cause != Cause::kRecovery) cause = Cause::kWal;
        } else if (flag == "time") {
            if (cause != Cause::kWal && cause != Cause::kRecovery) cause = Cause::kTime;
        } else if (flag == "immediate" || flag == "fast" || flag == "force" || flag == "wait" ||
                   flag == "flush-all" || flag == "flush-unlogged") {
            raise(Cause::kRequest);
        } else {
            break;
        }
        any = true;
    }
    return cause;
}

Reading ReadStart(std::string_view text, Event& event) {
    bool any = false;
    event.cause = CauseOf(text, any);
    if (event.restartpoint) event.cause = Cause::kRestartpoint;
    // No flag at all is possible: a request without any (a base backup that spreads its checkpoint).
    if (!any && event.cause == Cause::kUnknown) {
        if (text.find_first_not_of(" \t\r\"',") != std::string_view::npos) return Reading::kUnreadable;
        event.cause = Cause::kUnknown;
    }
    return Reading::kRead;
}

Reading ReadComplete(std::string_view text, std::string_view rest, Event& event) {
    // 19 has the flags here, too: "checkpoint complete: wal: wrote ..."
    bool any = false;
    const Cause cause = CauseOf(text, any);
    if (any) event.cause = cause;
    if (event.restartpoint) event.cause = Cause::kRestartpoint;
    event.old_format = text.find("transaction log file") != std::string_view::npos;
    return ReadFigures(text, rest, event.figures) ? Reading::kRead : Reading::kUnreadable;
}

Reading ReadFrequent(std::string_view text, std::string_view rest, Event& event) {
    event.cause = Cause::kWal;
    std::size_t at = text.find_first_of("0123456789");
    if (at == std::string_view::npos) {  // French has the number on the next line
        text = rest.substr(0, std::min(rest.find('\n'), rest.size()));
        at = text.find_first_of("0123456789");
        const std::size_t open = text.find('(');
        if (at == std::string_view::npos || open == std::string_view::npos || open > at || at - open > 40)
            return Reading::kRead;
    }
    // A number at the very end may have lost digits.
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), seconds);
    if (error == std::errc() && end != text.data() + text.size() && seconds <= kFurthestApart)
        event.seconds = seconds;
    return Reading::kRead;
}

Reading ReadRecovery(std::string_view text, Event& event) {
    if (event.kind == EventKind::kRedoProgress) event.elapsed = FirstSeconds(text);
    event.lsn = FirstLsn(text);
    const bool complete = event.lsn != 0 && (event.kind != EventKind::kRedoProgress || event.elapsed >= 0);
    return complete ? Reading::kRead : Reading::kUnreadable;
}

Reading ReadByHead(const MessageHead& head, std::string_view text, std::string_view rest, Event& event) {
    event.kind = head.kind;
    event.restartpoint = head.restartpoint;
    switch (head.kind) {
        case EventKind::kStart:
            return ReadStart(text, event);
        case EventKind::kComplete:
            return ReadComplete(text, rest, event);
        case EventKind::kFrequent:
            return ReadFrequent(text, rest, event);
        case EventKind::kRedoStart:
        case EventKind::kRedoProgress:
        case EventKind::kRedoDone:
            return ReadRecovery(text, event);
        case EventKind::kVersion:
            std::from_chars(text.data(), text.data() + text.size(), event.major);
            return event.major > 0 ? Reading::kRead : Reading::kNotOurs;
        case EventKind::kReady:
        case EventKind::kHint:
        case EventKind::kSetting:
        case EventKind::kNone:
            break;
    }
    return Reading::kRead;
}

}  // namespace

Reading ReadMessage(std::string_view message, std::string_view rest, Level level, Event& event) {
    if (level == Level::kOther) return Reading::kNotOurs;
    const bool names_size = message.find("max_wal_size") != std::string_view::npos ||
                            message.find("checkpoint_segments") != std::string_view::npos;
    if (level == Level::kHint) {
        if (!names_size || message.size() > 600) return Reading::kNotOurs;
        event.kind = EventKind::kHint;
        event.cause = Cause::kWal;
        return Reading::kRead;
    }
    if (const MessageHead* head = HeadOf(message))
        return ReadByHead(*head, message.substr(head->text.size()), rest, event);
    if (level != Level::kLog) return Reading::kNotOurs;
    if (IsCutHead(message)) return Reading::kUnreadable;
    if (names_size || message.find("checkpoint_timeout") != std::string_view::npos ||
        message.find("checkpoint_completion_target") != std::string_view::npos)
        return ReadSetting(message, event);
    return Reading::kNotOurs;
}

}  // namespace walsizer::cli
