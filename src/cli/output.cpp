#include "cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace walsizer::cli {

namespace {

bool PeopleAt(int descriptor) {
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

bool NoColourWanted() {
    const char* no = std::getenv("NO_COLOR");
    return no != nullptr && *no != '\0';
}

bool IsContinuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

Style Style::ForStdout(const OutputOptions& options) {
    if (options.format != OutputFormat::kText) return Style(false);
    if (options.colour != ColourMode::kAuto) return Style(options.colour == ColourMode::kAlways);
    return Style(PeopleAt(STDOUT_FILENO) && !NoColourWanted());
}

std::string Style::Wrap(std::string_view code, std::string_view text) const {
    if (!colour_ || text.empty()) return std::string(text);
    std::string wrapped = "\033[";
    wrapped.append(code).append("m").append(text).append("\033[0m");
    return wrapped;
}

bool ShowsProgress() {
    return PeopleAt(STDERR_FILENO);
}

std::size_t DisplayWidth(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033') {
            while (i < text.size() && text[i] != 'm') ++i;
        } else if (!IsContinuation(text[i])) {
            ++width;
        }
    }
    return width;
}

namespace {

// The end of the next word. "560 kB" is one: a figure and its unit stay on one line.
std::size_t WordEnd(std::string_view text) {
    static constexpr std::string_view kUnits[] = {"kB", "MB", "GB", "TB", "MB/s", "GB/s", "s", "%"};
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end == 0 || end == text.size() || text[end - 1] < '0' || text[end - 1] > '9') return end;
    const std::size_t unit_end = std::min(text.find_first_of(" .,;:)", end + 1), text.size());
    const std::string_view unit = text.substr(end + 1, unit_end - end - 1);
    if (std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits)) return end;
    return std::min(text.find(' ', end + 1), text.size());
}

}  // namespace

std::string Wrapped(std::string_view text, std::size_t indent, std::size_t first, std::size_t columns) {
    std::string result(first == 0 ? indent : 0, ' ');
    std::size_t used = std::max(first, indent);
    bool begins = true;
    while (!text.empty()) {
        const std::size_t end = WordEnd(text);
        const std::string_view word = text.substr(0, end);
        const std::size_t width = DisplayWidth(word);
        if (!begins && used + 1 + width > columns) {
            result.append("\n").append(indent, ' ');
            used = indent;
            begins = true;
        }
        if (!begins) {
            result.append(" ");
            ++used;
        }
        result.append(word);
        used += width;
        begins = false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

std::string Bar(double share, std::size_t width) {
    static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
    auto eighths = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width) * 8));
    if (clamped > 0) eighths = std::max<std::size_t>(eighths, 1);
    std::string bar;
    for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
    bar += kEighths[eighths % 8];
    bar.append(width - std::min(width, DisplayWidth(bar)), ' ');
    return bar;
}

std::string CsvField(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string CsvRow(const std::vector<std::string>& fields) {
    std::string row;
    for (const std::string& field : fields) {
        if (&field != &fields.front()) row += ',';
        row += CsvField(field);
    }
    return row + '\n';
}

}  // namespace walsizer::cli
