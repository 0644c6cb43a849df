// Blocks and lines for terminals: UTF-8 where the locale has it, else ASCII.
#pragma once

#include <string>
#include <vector>

#include "walsizer/units.hpp"

namespace walsizer::cli {

// Of the locale in the environment.
bool TerminalHasUtf8();

class Glyphs {
  public:
    explicit Glyphs(bool utf8) : utf8_(utf8) {}

    // `share` of `width` columns is full, the rest is drawn faintly.
    std::string Gauge(double share, std::size_t width) const;
    // The newest `width` values, each as a column of a height relative to the largest.
    std::string Sparkline(const std::vector<double>& values, std::size_t width) const;
    std::string Arrow() const { return utf8_ ? "→" : "->"; }
    std::string Rule(std::size_t width) const;
    // At most `width` columns; what is cut off shows.
    std::string Fit(const std::string& text, std::size_t width) const;

  private:
    bool utf8_;
};

}  // namespace walsizer::cli
