#include "cli/report/report_page.hpp"

#include <nlohmann/json.hpp>

namespace walsizer::cli {

namespace {

// report.html, made a string literal by the build.
constexpr const char kTemplate[] =
#include "report_template.inc"
    ;

std::string AsHtmlText(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

// Inside a script element only "<" could end it: it is written as JSON's own escape.
std::string AsScriptData(const nlohmann::ordered_json& report) {
    std::string escaped;
    for (const char c : report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
        if (c == '<')
            escaped += "\\u003c";
        else
            escaped += c;
    }
    return escaped;
}

void Replace(std::string& page, const std::string& mark, const std::string& text) {
    // From behind: what was filled in is not searched again.
    for (std::size_t at = page.rfind(mark); at != std::string::npos;
         at = at == 0 ? std::string::npos : page.rfind(mark, at - 1))
        page.replace(at, mark.size(), text);
}

}  // namespace

std::string Page(const nlohmann::ordered_json& report) {
    std::string page = kTemplate;
    const std::string mark = "__DATA__</script>";
    const std::size_t at = page.find(mark);
    std::string tail = page.substr(at + mark.size());
    page.resize(at);
    Replace(page, "__TITLE__", AsHtmlText(report.at("title").get<std::string>()));
    return page + AsScriptData(report) + "</script>" + tail;
}

}  // namespace walsizer::cli
