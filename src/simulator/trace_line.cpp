#include "simulator/trace_line.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "simulator/trace.hpp"

namespace walsizer::simulator {

namespace {

const std::vector<std::pair<const char*, double>> kPlain = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
const std::vector<std::pair<const char*, double>> kRates = {{"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}};
const std::vector<std::pair<const char*, double>> kSizes = {
    {"B", 1}, {"kB", kKiB}, {"MB", kMiB}, {"GB", kGiB}, {"TB", 1024.0 * kGiB}};
const std::vector<std::pair<const char*, double>> kByteRates = {
    {"B/s", 1}, {"kB/s", kKiB}, {"MB/s", kMiB}, {"GB/s", kGiB}};
const std::vector<std::pair<const char*, double>> kDurations = {
    {"ms", kMillisecond}, {"s", kSecond}, {"min", kMinute}, {"h", kHour}, {"d", 24.0 * kHour}};
// Beyond every real server, and far below where the arithmetic would overflow.
constexpr double kLargest = 1e17;

}  // namespace

TraceLine::TraceLine(const std::string& where, const std::string& text) : where_(where) {
    std::istringstream words(text.substr(0, text.find('#')));
    for (std::string word; words >> word;) words_.push_back(word);
}

void TraceLine::Complain(const std::string& message) const {
    throw TraceError(where_ + ": " + message);
}

bool TraceLine::Take(const std::string& word) {
    if (!NextIs(word)) return false;
    ++at_;
    return true;
}

void TraceLine::Expect(const std::string& word) {
    if (Take(word)) return;
    Complain("expected \"" + word + "\"" +
             (AtEnd() ? " at the end of the line" : ", not \"" + words_[at_] + "\""));
}

void TraceLine::ExpectEnd() {
    if (!AtEnd()) Complain("\"" + words_[at_] + "\" is one word too many");
}

std::string TraceLine::Word(const char* what) {
    if (AtEnd()) Complain(std::string("expected ") + what + " at the end of the line");
    return words_[at_++];
}

double TraceLine::Quantity(const std::string& word, const char* what, const char* example,
                           const std::vector<std::pair<const char*, double>>& units) const {
    char* rest = nullptr;
    const double number = std::strtod(word.c_str(), &rest);
    if (rest != word.c_str())
        for (const auto& [unit, factor] : units)
            if (rest == std::string(unit) && number >= 0 && number * factor <= kLargest)
                return number * factor;
    Complain(std::string("\"") + word + "\" is no " + what + " such as " + example);
}

double TraceLine::Number(const char* what) {
    return Quantity(Word(what), what, "250 or 80k", kPlain);
}
std::int64_t TraceLine::Count(const char* what) {
    const double number = Number(what);
    if (number < 1 || number != std::floor(number))
        Complain(std::string(what) + " must be a whole number from 1");
    return static_cast<std::int64_t>(number);
}
double TraceLine::PerSecond(const char* what) {
    return Quantity(Word(what), what, "2000/s", kRates);
}
Bytes TraceLine::Size(const char* what) {
    return static_cast<Bytes>(Quantity(Word(what), what, "512MB", kSizes));
}
double TraceLine::ByteRate(const char* what) {
    return Quantity(Word(what), what, "5MB/s", kByteRates);
}
Micros TraceLine::Duration(const char* what) {
    return static_cast<Micros>(Quantity(Word(what), what, "90s or 5min", kDurations));
}

void TraceLine::DurationRange(const char* what, Micros& from, Micros& to) {
    const std::string word = Word(what);
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos)
        Complain(std::string("\"") + word + "\" is no " + what + " such as 10s..60s");
    from = static_cast<Micros>(Quantity(word.substr(0, dots), what, "10s..60s", kDurations));
    to = static_cast<Micros>(Quantity(word.substr(dots + 2), what, "10s..60s", kDurations));
    if (from > to) Complain(std::string(what) + " begins after its end");
}

bool TraceLine::YesOrNo(const char* what) {
    const std::string word = Word(what);
    if (word != "yes" && word != "no") Complain(std::string(what) + " is yes or no, not \"" + word + "\"");
    return word == "yes";
}

}  // namespace walsizer::simulator
