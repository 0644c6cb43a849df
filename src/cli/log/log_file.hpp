// One file's events, oldest first whatever their order in the file.
#pragma once

#include <deque>
#include <string>

#include "cli/log/event.hpp"
#include "cli/log/scan.hpp"

namespace walsizer::cli {

class LogFile {
  public:
    LogFile(std::string path, std::size_t index);

    const std::string& path() const { return path_; }
    std::size_t index() const { return index_; }

    // The next event, or nullptr at the end.
    const Event* Peek();
    void Pop();

    std::int64_t lines() const { return scanner_.lines(); }
    std::int64_t bytes() const { return scanner_.bytes(); }
    std::int64_t unparsed() const { return unparsed_; }
    bool truncated() const { return scanner_.truncated(); }

  private:
    bool ReadOne();
    void FillUp(std::size_t count);
    void TurnIfNewestFirst();

    std::string path_;
    std::size_t index_;
    LineScanner scanner_;
    std::deque<Event> events_;
    std::int64_t unparsed_ = 0;
    bool begun_ = false;
};

}  // namespace walsizer::cli
