#include "walsizer/text.hpp"

#include <algorithm>
#include <cstdio>

namespace walsizer {

std::size_t FormatAt(char* buffer, std::size_t capacity, std::size_t used, const char* format,
                     std::va_list arguments) noexcept {
    if (used + 1 >= capacity) return used;
    const int wanted = std::vsnprintf(buffer + used, capacity - used, format, arguments);
    if (wanted < 0) {
        buffer[used] = '\0';
        return used;
    }
    return std::min(used + static_cast<std::size_t>(wanted), capacity - 1);
}

ShortText SizeText(Bytes size) noexcept {
    ShortText text;
    const bool whole_megabytes = size % kMiB == 0;
    if (size >= 10 * kGiB || (size >= kGiB && !whole_megabytes))
        text.Set("%.1f GB", static_cast<double>(size) / static_cast<double>(kGiB));
    else if (size >= 10 * kMiB || (whole_megabytes && size != 0))
        text.Set("%lld MB", static_cast<long long>((size + kMiB / 2) / kMiB));
    else if (size >= kMiB)
        text.Set("%.1f MB", static_cast<double>(size) / static_cast<double>(kMiB));
    else
        text.Set("%lld kB", static_cast<long long>((size + kKiB - 1) / kKiB));
    return text;
}

ShortText DurationText(Micros duration) noexcept {
    if (duration >= 10 * kMinute) return ClockText(duration);
    ShortText text;
    const double seconds = static_cast<double>(std::max<Micros>(duration, 0)) / static_cast<double>(kSecond);
    text.Set(duration < 10 * kSecond ? "%.1f s" : "%.0f s", seconds);
    return text;
}

ShortText ClockText(Micros duration) noexcept {
    ShortText text;
    const long long seconds = std::max<Micros>(duration, 0) / kSecond;
    if (seconds < 3600)
        text.Set("%lld:%02lld", seconds / 60, seconds % 60);
    else
        text.Set("%lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60, seconds % 60);
    return text;
}

}  // namespace walsizer
