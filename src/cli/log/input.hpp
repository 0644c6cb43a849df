// The bytes of a log file, decompressed on the way.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace walsizer::cli {

class Input {
  public:
    virtual ~Input() = default;

    // Fills the buffer as far as possible; 0 at the end. Throws std::runtime_error, naming the file.
    virtual std::size_t Read(char* buffer, std::size_t size) = 0;

    // Compressed data that broke off: what came before was read.
    virtual bool truncated() const { return false; }
};

// gzip and zstd are recognised by their content, "-" is standard input. Throws std::runtime_error.
std::unique_ptr<Input> OpenInput(const std::string& path);

}  // namespace walsizer::cli
