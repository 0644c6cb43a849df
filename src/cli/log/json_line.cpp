#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/log/line.hpp"
#include "cli/log/stamp.hpp"

namespace walsizer::cli {

namespace {

using Json = nlohmann::json;

// Collectors wrap PostgreSQL's line in objects of their own, to this depth at most.
constexpr int kDepth = 5;

// What was gathered on the way to the message; inner objects know better.
struct Around {
    std::string server;
    std::optional<Instant> at;
    std::int64_t pid = 0;
    Level level = Level::kUnknown;
};

void NoteTime(const Json& object, Around& around) {
    for (const char* key : {"log_time", "timestamp", "time", "@timestamp", "ts"}) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_string()) continue;
        if (const auto stamp = FindStamp(found->get_ref<const std::string&>())) {
            around.at = stamp->instant;
            return;
        }
    }
}

void Note(const Json& object, Around& around) {
    NoteTime(object, around);
    for (const char* key : {"pod_name", "logging_pod", "pod", "instance", "LogicalServerName", "resourceId",
                            "database_id", "container_name", "hostname", "host"}) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_string()) continue;
        around.server = found->get<std::string>();
        break;
    }
    // Cloud SQL has it in the resource's labels, Kubernetes collectors in an object of their own.
    for (const char* key : {"resource", "labels", "kubernetes"}) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_object()) Note(*found, around);
    }
    for (const char* key : {"pid", "process_id"}) {
        const auto found = object.find(key);
        if (found == object.end()) continue;
        if (found->is_number_integer()) around.pid = found->get<std::int64_t>();
        if (found->is_string()) around.pid = std::atoll(found->get_ref<const std::string&>().c_str());
    }
    const auto level = object.find("error_severity");
    if (level != object.end() && level->is_string())
        around.level = LevelOf(level->get_ref<const std::string&>());
}

bool ReadText(const std::string& text, const Around& around, Event& event, Reading& reading) {
    if (around.level != Level::kUnknown) {
        reading = ReadMessage(text, {}, around.level, event);
    } else {
        const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
        if (!ReadCsvLine(first, {}, event, reading)) reading = ReadTextLine(first, {}, event);
    }
    return reading != Reading::kNotOurs;
}

bool ReadObject(const Json& object, Around around, int depth, Event& event, Reading& reading) {
    if (!object.is_object() || depth > kDepth) return false;
    Note(object, around);
    for (const char* key : {"record", "properties", "jsonPayload", "message", "msg", "log", "textPayload",
                            "Message", "MESSAGE", "line", "content"}) {
        const auto found = object.find(key);
        if (found == object.end()) continue;
        if (found->is_object() && ReadObject(*found, around, depth + 1, event, reading)) return true;
        if (!found->is_string() || !ReadText(found->get_ref<const std::string&>(), around, event, reading))
            continue;
        if (!event.at) event.at = around.at;
        if (event.pid == 0) event.pid = around.pid;
        if (!around.server.empty()) event.server = around.server;
        if (event.identity == 0 && event.at && event.at->dated)
            event.identity =
                std::hash<std::string>()(object.dump(-1, ' ', false, Json::error_handler_t::replace));
        return true;
    }
    return false;
}

}  // namespace

bool ReadJsonLine(std::string_view line, Event& event, Reading& reading) {
    const std::size_t begin = line.find('{');
    const std::size_t end = line.rfind('}');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return false;
    // A nested object deep enough would use up the parser's stack.
    if (std::count(line.begin(), line.end(), '{') > 1000 || std::count(line.begin(), line.end(), '[') > 1000)
        return false;
    const Json object = Json::parse(line.begin() + begin, line.begin() + end + 1, nullptr, false);
    if (!object.is_object()) return false;
    Around around;
    if (ReadObject(object, around, 0, event, reading)) return true;
    reading = Reading::kNotOurs;
    return true;
}

}  // namespace walsizer::cli
