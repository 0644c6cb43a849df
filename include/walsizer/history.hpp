// The history as bytes: what survives a restart. Pure encoding; the extension adds magic, length and checksum
// and does the I/O.
//
// The format is a row of sections {id, element size, count, elements}. A reader takes the sections it knows,
// and of each element as many bytes as both sides know: structs only ever grow at their end, so that older
// and newer versions of walsizer read each other's files. Byte order and layout are those of the machine.
#pragma once

#include <cstddef>

#include "walsizer/tuner.hpp"

namespace walsizer {

// Bytes that EncodeHistory() may need for a journal of this many windows.
std::size_t HistoryCapacity(std::uint32_t windows) noexcept;

// Writes the history into `buffer`; returns the bytes used, 0 when `capacity` does not suffice.
std::size_t EncodeHistory(const TunerMemory& memory, const Journal& journal, std::byte* buffer,
                          std::size_t capacity) noexcept;

// Reads a history into `memory` and an empty `journal`. False, with both in their initial state, when the
// bytes are not a history. Any bytes are safe to offer.
bool DecodeHistory(const std::byte* bytes, std::size_t size, TunerMemory& memory, Journal& journal) noexcept;

}  // namespace walsizer
