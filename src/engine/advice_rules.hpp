// The rules behind Advise(). Each looks at one thing and adds at most one finding.
#pragma once

#include "walsizer/advice.hpp"

namespace walsizer {

using Rule = void (*)(const AdviceFacts& facts, Findings& findings) noexcept;

// advice_settings.cpp
void AdviseCompletionTarget(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseLogCheckpoints(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseCheckpointTimeout(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseMinAboveMax(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseMinTooSmall(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseOneOff(const AdviceFacts& facts, Findings& findings) noexcept;

// advice_storage.cpp
void AdviseStorage(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseLongSync(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseLongCheckpoint(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseBackendWrites(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseBackendFsyncs(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseBackgroundWriter(const AdviceFacts& facts, Findings& findings) noexcept;

// advice_wal.cpp
void AdviseRequests(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseHeldWal(const AdviceFacts& facts, Findings& findings) noexcept;
void AdviseFullPageImages(const AdviceFacts& facts, Findings& findings) noexcept;
void AdvisePhantomWal(const AdviceFacts& facts, Findings& findings) noexcept;

// "in the last 52:10", "in the log's last 52:10"
Text<48> SpanText(const AdviceFacts& facts) noexcept;
// As a setting wants it: whole gigabytes or megabytes without a space.
ShortText SettingText(Bytes size) noexcept;

inline double Ratio(double part, double whole) noexcept {
    return whole > 0 ? part / whole : 0;
}
inline double Ratio(std::int64_t part, std::int64_t whole) noexcept {
    return Ratio(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace walsizer
