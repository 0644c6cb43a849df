// One line of a trace, read word by word. Every complaint names file, line and what was expected.
#pragma once

#include <string>
#include <vector>

#include "walsizer/units.hpp"

namespace walsizer::simulator {

class TraceLine {
  public:
    TraceLine(const std::string& where, const std::string& text);

    bool AtEnd() const { return at_ >= words_.size(); }
    bool NextIs(const std::string& word) const { return !AtEnd() && words_[at_] == word; }
    bool Take(const std::string& word);
    void Expect(const std::string& word);
    void ExpectEnd();

    std::string Word(const char* what);
    double Number(const char* what);       // 12, 1.5, 80k, 2M
    std::int64_t Count(const char* what);  // a whole number, at least 1
    double PerSecond(const char* what);    // 2000/s
    Bytes Size(const char* what);          // 16MB, 1.5GB
    double ByteRate(const char* what);     // 5MB/s
    Micros Duration(const char* what);     // 500ms, 90s, 5min, 8h, 30d; not negative
    void DurationRange(const char* what, Micros& from, Micros& to);  // 10s..60s
    bool YesOrNo(const char* what);

    [[noreturn]] void Complain(const std::string& message) const;

  private:
    double Quantity(const std::string& word, const char* what, const char* example,
                    const std::vector<std::pair<const char*, double>>& units) const;

    std::string where_;
    std::vector<std::string> words_;
    std::size_t at_ = 0;
};

}  // namespace walsizer::simulator
