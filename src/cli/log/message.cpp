#include "cli/log/message.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/log/figures.hpp"
#include "cli/quantity.hpp"

namespace walsizer::cli {

namespace {

struct Head {
    std::string_view text;
    EventKind kind;
    bool restartpoint;
};
// How messages begin, up to the first value. Sorted by nothing: a message begins with one of them at most,
// but for those where the longer one stands first.
constexpr Head kHeads[] = {
    {"checkpoint starting:", EventKind::kStart, false},
    {"restartpoint starting:", EventKind::kStart, true},
    {"checkpoint complete:", EventKind::kComplete, false},
    {"restartpoint complete:", EventKind::kComplete, true},
    {"checkpoint complete", EventKind::kComplete, false},
    {"restartpoint complete", EventKind::kComplete, true},
    {"checkpoints are occurring too frequently", EventKind::kFrequent, false},
    // de
    {"Checkpoint beginnt:", EventKind::kStart, false},
    {"Restart-Punkt beginnt:", EventKind::kStart, true},
    {"Checkpoint komplett:", EventKind::kComplete, false},
    {"Restart-Punkt komplett:", EventKind::kComplete, true},
    {"Checkpoints passieren zu oft", EventKind::kFrequent, false},
    // es
    {"empezando checkpoint:", EventKind::kStart, false},
    {"empezando restartpoint:", EventKind::kStart, true},
    {"checkpoint completado:", EventKind::kComplete, false},
    {"restartpoint completado:", EventKind::kComplete, true},
    {"checkpoint completo:", EventKind::kComplete, false},
    {"restartpoint completo:", EventKind::kComplete, true},
    {"los puntos de control están ocurriendo con demasiada frecuencia", EventKind::kFrequent, false},
    // fr
    {"début du checkpoint :", EventKind::kStart, false},
    {"début du restartpoint :", EventKind::kStart, true},
    {"checkpoint terminé :", EventKind::kComplete, false},
    {"restartpoint terminé :", EventKind::kComplete, true},
    {"les points de vérification (checkpoints) arrivent trop fréquemment", EventKind::kFrequent, false},
    // it
    {"inizio checkpoint:", EventKind::kStart, false},
    {"inizio del punto di riavvio:", EventKind::kStart, true},
    {"checkpoint avviato:", EventKind::kStart, false},
    {"restartpoint avviato:", EventKind::kStart, true},
    {"checkpoint completato:", EventKind::kComplete, false},
    {"punto di riavvio completato:", EventKind::kComplete, true},
    {"restartpoint completato:", EventKind::kComplete, true},
    {"i checkpoint stanno avvenendo troppo ", EventKind::kFrequent, false},
    // ja
    {"チェックポイント開始:", EventKind::kStart, false},
    {"リスタートポイント開始:", EventKind::kStart, true},
    {"チェックポイント完了:", EventKind::kComplete, false},
    {"リスタートポイント完了:", EventKind::kComplete, true},
    {"チェックポイントの発生周期が短すぎます", EventKind::kFrequent, false},
    // ka
    {"საკონტროლო წერტილი იწყება:", EventKind::kStart, false},
    {"გადატვირთვის წერტილი დაიწყო:", EventKind::kStart, true},
    {"საკონტროლო წერტილები მეტისმეტად ხშირად ხდება", EventKind::kFrequent, false},
    // ko
    {"체크포인트 시작:", EventKind::kStart, false},
    {"restartpoint 시작:", EventKind::kStart, true},
    {"체크포인트 작업완료:", EventKind::kComplete, false},
    {"restartpoint 작업완료:", EventKind::kComplete, true},
    {"체크포인트가 너무 자주 발생함", EventKind::kFrequent, false},
    // pl, pt_BR, tr, id
    {"punkty kontrolne występują zbyt często", EventKind::kFrequent, false},
    {"pontos de controle estão ocorrendo frequentemente", EventKind::kFrequent, false},
    {"checkpoint işlemi çok sık gerçekleşiyor", EventKind::kFrequent, false},
    {"'checkpoint' terlalu sering terjadi", EventKind::kFrequent, false},
    // ru
    {"начата контрольная точка:", EventKind::kStart, false},
    {"начата точка перезапуска:", EventKind::kStart, true},
    {"контрольная точка завершена:", EventKind::kComplete, false},
    {"точка перезапуска завершена:", EventKind::kComplete, true},
    {"контрольные точки происходят слишком часто", EventKind::kFrequent, false},
    // sv
    {"checkpoint startar:", EventKind::kStart, false},
    {"restartpoint startar:", EventKind::kStart, true},
    {"checkpoint klar:", EventKind::kComplete, false},
    {"restartpoint klar:", EventKind::kComplete, true},
    {"checkpoint:s sker för ofta", EventKind::kFrequent, false},
    // uk
    {"початок контрольної точки:", EventKind::kStart, false},
    {"початок точки перезапуску:", EventKind::kStart, true},
    {"контрольна точка завершена:", EventKind::kComplete, false},
    {"точка перезапуску завершена:", EventKind::kComplete, true},
    {"контрольні точки відбуваються занадто часто", EventKind::kFrequent, false},
    // zh_CN, zh_TW
    {"检查点开始:", EventKind::kStart, false},
    {"重启点开始:", EventKind::kStart, true},
    {"检查点完成:", EventKind::kComplete, false},
    {"重启点完成:", EventKind::kComplete, true},
    {"检查点事件发生过于频繁", EventKind::kFrequent, false},
    {"檢查點開始:", EventKind::kStart, false},
    {"重啟點開始:", EventKind::kStart, true},
    {"重新啟動點開始:", EventKind::kStart, true},
    {"檢查點完成:", EventKind::kComplete, false},
    {"重啟點完成:", EventKind::kComplete, true},
    {"重新啟動點完成:", EventKind::kComplete, true},
    {"檢查點頻率太高", EventKind::kFrequent, false},
    // recovery and start, in English and where a translation is as plain
    {"database system is ready to accept", EventKind::kReady, false},
    {"redo starts at ", EventKind::kRedoStart, false},
    {"redo in progress,", EventKind::kRedoProgress, false},
    {"redo done at ", EventKind::kRedoDone, false},
    {"Redo beginnt bei ", EventKind::kRedoStart, false},
    {"Redo im Gang,", EventKind::kRedoProgress, false},
    {"Redo fertig bei ", EventKind::kRedoDone, false},
    {"redo comienza en ", EventKind::kRedoStart, false},
    {"redo en progreso,", EventKind::kRedoProgress, false},
    {"redo listo en ", EventKind::kRedoDone, false},
    {"запись REDO начинается со смещения ", EventKind::kRedoStart, false},
    {"записи REDO обработаны до смещения ", EventKind::kRedoDone, false},
    {"REDOを", EventKind::kRedoStart, false},
    {"REDO進行中、", EventKind::kRedoProgress, false},
    {"REDOが", EventKind::kRedoDone, false},
    {"starting PostgreSQL ", EventKind::kVersion, false},
};

bool StartsWith(std::string_view text, std::string_view beginning) {
    return text.substr(0, beginning.size()) == beginning;
}

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
    if (error == std::errc() && end != text.data() + text.size()) event.seconds = seconds;
    return Reading::kRead;
}

// The text inside the quotes that begin at or after `at`; moves `at` behind them.
std::string_view Quoted(std::string_view text, std::size_t& at) {
    struct Quotes {
        std::string_view open, close;
    };
    static constexpr Quotes kQuotes[] = {{"\"\"", "\"\""}, {"\\\"", "\\\""}, {"\"", "\""},
                                         {"»", "«"},       {"«", "»"},       {"“", "”"}};
    for (; at < text.size(); ++at) {
        for (const Quotes& quotes : kQuotes) {
            if (!StartsWith(text.substr(at), quotes.open)) continue;
            const std::size_t from = at + quotes.open.size();
            const std::size_t end = text.find(quotes.close, from);
            if (end == std::string_view::npos) return {};
            at = end + quotes.close.size();
            std::string_view inside = text.substr(from, end - from);
            while (!inside.empty() &&
                   (inside.front() == ' ' || inside.front() == '\xC2' || inside.front() == '\xA0'))
                inside.remove_prefix(1);
            while (!inside.empty() &&
                   (inside.back() == ' ' || inside.back() == '\xC2' || inside.back() == '\xA0'))
                inside.remove_suffix(1);
            return inside;
        }
    }
    return {};
}

// parameter "max_wal_size" changed to "4GB", in any language: a quoted name and a quoted value.
Reading ReadSetting(std::string_view message, Event& event) {
    std::size_t at = 0;
    const std::string_view name = Quoted(message, at);
    if (at > 120) return Reading::kNotOurs;
    std::int64_t value = 0;
    bool fits = false;
    const std::string_view text = Quoted(message, at);
    if (name == "max_wal_size") {
        event.setting = SettingName::kMaxWalSize;
        fits = ParseSize(text, kMiB, value);
        event.value = static_cast<double>(value);
    } else if (name == "checkpoint_timeout") {
        event.setting = SettingName::kCheckpointTimeout;
        fits = ParseTime(text, kSecond, value) && value > 0;
        event.value = static_cast<double>(value);
    } else if (name == "checkpoint_completion_target") {
        event.setting = SettingName::kCompletionTarget;
        const std::string number(text);
        char* end = nullptr;
        event.value = std::strtod(number.c_str(), &end);
        fits = !number.empty() && *end == '\0' && event.value >= 0 && event.value <= 1;
    } else {
        return Reading::kNotOurs;
    }
    event.kind = EventKind::kSetting;
    if (fits) return Reading::kRead;
    // Removed from the file: no value is quoted, or in Ukrainian the words for the default.
    event.value = -1;
    const bool figure = text.find_first_of("0123456789") != std::string_view::npos;
    if (!figure && message.find("changed") == std::string_view::npos) return Reading::kRead;
    return Reading::kUnreadable;
}

Reading ReadRecovery(std::string_view text, Event& event) {
    if (event.kind == EventKind::kRedoProgress) event.elapsed = FirstSeconds(text);
    event.lsn = FirstLsn(text);
    const bool complete = event.lsn != 0 && (event.kind != EventKind::kRedoProgress || event.elapsed >= 0);
    return complete ? Reading::kRead : Reading::kUnreadable;
}

Reading ReadByHead(const Head& head, std::string_view text, std::string_view rest, Event& event) {
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

// "checkpoint comp": the line ends before it says what it is about to say.
bool IsCutHead(std::string_view message) {
    if (message.size() < 12) return false;
    for (const Head& head : kHeads)
        if ((head.kind == EventKind::kStart || head.kind == EventKind::kComplete ||
             head.kind == EventKind::kFrequent) &&
            StartsWith(head.text, message))
            return true;
    return false;
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
    for (const Head& head : kHeads)
        if (message.size() >= head.text.size() && message[0] == head.text[0] &&
            StartsWith(message, head.text))
            return ReadByHead(head, message.substr(head.text.size()), rest, event);
    if (level != Level::kLog) return Reading::kNotOurs;
    if (IsCutHead(message)) return Reading::kUnreadable;
    if (names_size || message.find("checkpoint_timeout") != std::string_view::npos ||
        message.find("checkpoint_completion_target") != std::string_view::npos)
        return ReadSetting(message, event);
    return Reading::kNotOurs;
}

}  // namespace walsizer::cli
