// What goes to the terminal: format, colour, tables of at most 80 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace walsizer::cli {

enum class OutputFormat { kText, kJson, kCsv };
enum class ColourMode { kAuto, kAlways, kNever };

struct OutputOptions {
    OutputFormat format = OutputFormat::kText;
    ColourMode colour = ColourMode::kAuto;
};

// Colour for people at a terminal; never in a file or a pipe, unless it was asked for. NO_COLOR and
// TERM=dumb are obeyed.
class Style {
  public:
    explicit Style(bool colour) : colour_(colour) {}
    static Style ForStdout(const OutputOptions& options);

    bool colour() const { return colour_; }
    std::string Bold(std::string_view text) const { return Wrap("1", text); }
    std::string Faint(std::string_view text) const { return Wrap("2", text); }
    std::string Red(std::string_view text) const { return Wrap("31", text); }
    std::string Green(std::string_view text) const { return Wrap("32", text); }
    std::string Yellow(std::string_view text) const { return Wrap("33", text); }
    std::string Cyan(std::string_view text) const { return Wrap("36", text); }

  private:
    std::string Wrap(std::string_view code, std::string_view text) const;
    bool colour_;
};

// Progress goes to standard error, and only where somebody looks.
bool ShowsProgress();

inline constexpr std::size_t kColumns = 80;

// Columns that `text` takes on a terminal: code points, colour not counted.
std::size_t DisplayWidth(std::string_view text);

// Breaks at spaces so that no line is longer than `columns`; lines after the first begin with `indent`
// spaces, and so does the first unless it continues a line (`first` columns are taken there already).
std::string Wrapped(std::string_view text, std::size_t indent, std::size_t first = 0,
                    std::size_t columns = kColumns);

// "######    ": `share` of `width` columns, in eighths of a block.
std::string Bar(double share, std::size_t width);

std::string CsvField(std::string_view text);
std::string CsvRow(const std::vector<std::string>& fields);

}  // namespace walsizer::cli
