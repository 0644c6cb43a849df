// Finds, in a stream of log lines, the few that may concern checkpoints. Nearly all of a log is never looked
// at but by this.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/log/input.hpp"

namespace walsizer::cli {

// Where one of the words begins that every line of interest contains, whatever its language; `size`
// when none does.
std::size_t FindWord(const char* data, std::size_t size);

struct Candidate {
    std::string_view line;  // without its end
    std::string_view rest;  // what follows, up to kRest bytes: a wrapped line may go on there
};

class LineScanner {
  public:
    static constexpr std::size_t kRest = 2048;

    static constexpr std::size_t kBlock = std::size_t{1} << 18;  // stays in the second cache

    // Reads `block` bytes at a time. Tests take small ones, so that lines cross their borders.
    explicit LineScanner(std::unique_ptr<Input> input, std::size_t block = kBlock);

    // The views are valid until the next call. False at the end.
    bool Next(Candidate& candidate);

    std::int64_t lines() const { return lines_; }
    std::int64_t bytes() const { return bytes_; }
    bool truncated() const { return input_->truncated(); }
    // The first bytes, for whoever wants to know what kind of file this is; reads a block if none was read.
    std::string_view Beginning();

  private:
    bool Refill();

    std::unique_ptr<Input> input_;
    std::size_t block_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;      // not yet looked at
    std::size_t whole_ = 0;   // end of the last whole line
    std::size_t filled_ = 0;  // end of what was read
    std::int64_t lines_ = 0;
    std::int64_t bytes_ = 0;
    bool ended_ = false;
};

}  // namespace walsizer::cli
