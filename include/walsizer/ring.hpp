// A view of a ring of records whose storage belongs to the caller (shared memory, or a vector in tests).
#pragma once

#include <cstdint>

namespace walsizer {

template <typename Record>
class Ring {
  public:
    Ring() noexcept = default;  // holds nothing, keeps nothing
    Ring(Record* slots, std::uint32_t capacity, std::uint64_t* written) noexcept
        : slots_(slots), capacity_(capacity), written_(written) {}

    std::uint32_t capacity() const noexcept { return capacity_; }
    std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(written() < capacity_ ? written() : capacity_);
    }

    void Push(const Record& record) noexcept {
        if (capacity_ == 0) return;
        slots_[*written_ % capacity_] = record;
        ++*written_;
    }

    // 0 is the newest. `age` must be below size().
    Record& Newest(std::uint32_t age) noexcept { return slots_[(*written_ - 1 - age) % capacity_]; }
    const Record& Newest(std::uint32_t age) const noexcept {
        return slots_[(*written_ - 1 - age) % capacity_];
    }

    void Clear() noexcept {
        if (capacity_ > 0) *written_ = 0;
    }

  private:
    std::uint64_t written() const noexcept { return capacity_ > 0 ? *written_ : 0; }

    Record* slots_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint64_t* written_ = nullptr;
};

}  // namespace walsizer
