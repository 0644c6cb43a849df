#include "cli/show/glyphs.hpp"

#include <langinfo.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstring>

#include "cli/output.hpp"

namespace walsizer::cli {

bool TerminalHasUtf8() {
    // Characters alone: numbers are printed with a point everywhere.
    std::setlocale(LC_CTYPE, "");
    return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

std::string Glyphs::Gauge(double share, std::size_t width) const {
    const double full = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) * static_cast<double>(width) : 0;
    const auto whole = static_cast<std::size_t>(std::lround(full));
    std::string gauge;
    for (std::size_t i = 0; i < width; ++i) gauge += i < whole ? (utf8_ ? "█" : "#") : (utf8_ ? "░" : ".");
    return gauge;
}

std::string Glyphs::Sparkline(const std::vector<double>& values, std::size_t width) const {
    static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static constexpr const char* kPlain[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const std::size_t count = std::min(width, values.size());
    const auto first = values.end() - static_cast<std::ptrdiff_t>(count);
    const double largest = count == 0 ? 0 : *std::max_element(first, values.end());
    std::string line;
    for (auto value = first; value != values.end(); ++value) {
        const double share = largest > 0 ? std::clamp(*value / largest, 0.0, 1.0) : 0;
        const auto step = static_cast<std::size_t>(std::lround(share * 7));
        line += utf8_ ? kBlocks[step] : kPlain[step];
    }
    return line;
}

std::string Glyphs::Rule(std::size_t width) const {
    std::string rule;
    for (std::size_t i = 0; i < width; ++i) rule += utf8_ ? "─" : "-";
    return rule;
}

std::string Glyphs::Fit(const std::string& text, std::size_t width) const {
    if (DisplayWidth(text) <= width) return text;
    const std::string mark = utf8_ ? "…" : "...";
    const std::size_t room = width > DisplayWidth(mark) ? width - DisplayWidth(mark) : 0;
    std::size_t end = 0;
    std::size_t used = 0;
    while (end < text.size()) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
        if (begins && used == room) break;
        used += begins ? 1 : 0;
        ++end;
    }
    return text.substr(0, end) + mark;
}

}  // namespace walsizer::cli
