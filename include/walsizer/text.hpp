// A string of fixed capacity: lives in shared memory, never allocates, truncates instead of failing.
#pragma once

#include <cstdarg>
#include <cstddef>

#include "walsizer/units.hpp"

namespace walsizer {

// Formats as vsnprintf does at `used` within `capacity` bytes; returns the new length, at most capacity - 1.
__attribute__((format(printf, 4, 0))) std::size_t FormatAt(char* buffer, std::size_t capacity,
                                                           std::size_t used, const char* format,
                                                           std::va_list arguments) noexcept;

template <std::size_t kCapacity>
class Text {
  public:
    const char* c_str() const noexcept { return buffer_; }
    bool empty() const noexcept { return buffer_[0] == '\0'; }
    void clear() noexcept { buffer_[0] = '\0'; }

    __attribute__((format(printf, 2, 3))) Text& Set(const char* format, ...) noexcept {
        std::va_list arguments;
        va_start(arguments, format);
        FormatAt(buffer_, kCapacity, 0, format, arguments);
        va_end(arguments);
        return *this;
    }

    __attribute__((format(printf, 2, 3))) Text& Append(const char* format, ...) noexcept {
        std::va_list arguments;
        va_start(arguments, format);
        FormatAt(buffer_, kCapacity, Length(), format, arguments);
        va_end(arguments);
        return *this;
    }

    // Bytes read back from a file are anybody's: make sure that they end.
    void Terminate() noexcept { buffer_[kCapacity - 1] = '\0'; }

  private:
    std::size_t Length() const noexcept {
        std::size_t length = 0;
        while (length < kCapacity - 1 && buffer_[length] != '\0') ++length;
        return length;
    }

    char buffer_[kCapacity] = {};
};

using ShortText = Text<32>;
using Reason = Text<320>;

// "528 MB", "6.1 GB": as a DBA writes sizes. Whole megabytes below 10 GB where the value is whole.
ShortText SizeText(Bytes size) noexcept;

// "2.5 s", "281 s", "15:00", "2:05:00": how long something took or will take.
ShortText DurationText(Micros duration) noexcept;

// "0:40", "5:00", "2:05:00": a progress, as on a clock.
ShortText ClockText(Micros duration) noexcept;

}  // namespace walsizer
