#include "walsizer/history.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace walsizer {

namespace {

enum class SectionId : std::uint32_t {
    kOriginal = 1,
    kCycles = 2,
    kStanding = 3,
    kTotals = 4,
    kDecisions = 5,
    kWindows = 6,
    kCheckpoints = 7,
    kIdentity = 8,
    kRecoveries = 9,
    kImages = 10,
    kBuckets = 11,
};

struct SectionHead {
    std::uint32_t id;
    std::uint32_t element_size;
    std::uint32_t count;
    std::uint32_t reserved;
};

// TunerMemory without the parts that have sections of their own and grow by themselves.
struct Standing {
    Bytes last_size;
    Timestamp held_since;
    std::int32_t windows_since_change;
    bool held;
    Reason held_reason;
    Text<256> last_error;
    Bytes file_size;
    double replay_seen;
    Bytes intended_size;
    Change intended;
    std::int64_t intended_decision;
    Text<256> inherited_from;
};

class Writer {
  public:
    Writer(std::byte* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {}

    void Raw(const void* bytes, std::size_t size) noexcept {
        if (size > capacity_ - used_) full_ = true;
        if (full_) return;
        std::memcpy(buffer_ + used_, bytes, size);
        used_ += size;
    }

    template <typename Element>
    void Head(SectionId id, std::uint32_t count) noexcept {
        static_assert(std::is_trivially_copyable_v<Element>);
        const SectionHead head = {static_cast<std::uint32_t>(id), sizeof(Element), count, 0};
        Raw(&head, sizeof(head));
    }

    template <typename Element>
    void One(SectionId id, const Element& element) noexcept {
        Head<Element>(id, 1);
        Raw(&element, sizeof(element));
    }

    template <typename Element>
    void All(SectionId id, const Ring<Element>& ring) noexcept {
        Head<Element>(id, ring.size());
        for (std::uint32_t age = ring.size(); age-- > 0;) Raw(&ring.Newest(age), sizeof(Element));
    }

    std::size_t Used() const noexcept { return full_ ? 0 : used_; }

  private:
    std::byte* buffer_;
    std::size_t capacity_;
    std::size_t used_ = 0;
    bool full_ = false;
};

// A byte that is no bool or no enumerator must not be read as one.
void Mend(bool& flag) noexcept {
    unsigned char byte = 0;
    std::memcpy(&byte, &flag, 1);
    flag = byte != 0;
}

template <typename Enumeration>
void Mend(Enumeration& value, Enumeration last) noexcept {
    static_assert(sizeof(Enumeration) == 1);
    unsigned char byte = 0;
    std::memcpy(&byte, &value, 1);
    if (byte > static_cast<unsigned char>(last)) value = Enumeration{};
}

void Mend(CheckpointRecord& record) noexcept {
    Mend(record.cause, CheckpointCause::kStale);
}
void Mend(WindowRecord& record) noexcept {
    Mend(record.in_recovery);
}
void Mend(DecisionRecord& record) noexcept {
    Mend(record.action, Action::kResume);
    Mend(record.cause, DecisionCause::kManual);
    Mend(record.outcome, Outcome::kDryRun);
    Mend(record.limited_by, Limit::kRecoveryTime);
    record.reason.Terminate();
    // Whoever waited for this outcome is gone.
    if (record.outcome == Outcome::kPending) record.outcome = Outcome::kNone;
}
void Mend(Original& original) noexcept {
    Mend(original.known);
    Mend(original.had_line);
    original.text.Terminate();
}
void Mend(Identity& identity) noexcept {
    identity.data_directory.Terminate();
}
void Mend(RecoverySamples& recoveries) noexcept {
    recoveries.count = std::min(recoveries.count, RecoverySamples::kKept);
}
void Mend(ImageProfile& images) noexcept {
    images.Mend();
}
void Mend(WalBucket& bucket) noexcept {
    MendBucket(bucket);
}
void Mend(CycleMemory& cycles) noexcept {
    Mend(cycles.counters.known);
}
void Mend(Standing& standing) noexcept {
    Mend(standing.held);
    Mend(standing.intended, Change::kRestore);
    standing.held_reason.Terminate();
    standing.last_error.Terminate();
    standing.inherited_from.Terminate();
}
void Mend(Totals&) noexcept {}

template <typename Element>
Element Read(const std::byte* bytes, std::uint32_t size) noexcept {
    Element element = Element();
    std::memcpy(static_cast<void*>(&element), bytes, std::min<std::size_t>(size, sizeof(Element)));
    Mend(element);
    return element;
}

template <typename Element>
bool HasWordsFor(const std::byte*, std::uint32_t, const Ring<Element>&) noexcept {
    return true;
}

// A newer version's action must not be shown as another one.
bool HasWordsFor(const std::byte* bytes, std::uint32_t size, const Ring<DecisionRecord>&) noexcept {
    unsigned char action = 0;
    constexpr std::size_t at = offsetof(DecisionRecord, action);
    if (size > at) std::memcpy(&action, bytes + at, 1);
    return action <= static_cast<unsigned char>(Action::kResume);
}

template <typename Element>
void ReadAll(const std::byte* bytes, const SectionHead& head, Ring<Element>& ring) noexcept {
    for (std::uint32_t i = 0; i < head.count; ++i) {
        const std::byte* at = bytes + std::size_t{i} * head.element_size;
        if (HasWordsFor(at, head.element_size, ring)) ring.Push(Read<Element>(at, head.element_size));
    }
}

void ReadSection(const SectionHead& head, const std::byte* bytes, TunerMemory& memory,
                 Journal& journal) noexcept {
    switch (static_cast<SectionId>(head.id)) {
        case SectionId::kOriginal:
            memory.original = Read<Original>(bytes, head.element_size);
            break;
        case SectionId::kCycles:
            memory.cycles = Read<CycleMemory>(bytes, head.element_size);
            break;
        case SectionId::kIdentity:
            memory.identity = Read<Identity>(bytes, head.element_size);
            break;
        case SectionId::kRecoveries:
            memory.recoveries = Read<RecoverySamples>(bytes, head.element_size);
            break;
        case SectionId::kStanding: {
            const auto standing = Read<Standing>(bytes, head.element_size);
            memory.last_size = standing.last_size;
            memory.held_since = standing.held_since;
            memory.windows_since_change = standing.windows_since_change;
            memory.held = standing.held;
            memory.held_reason = standing.held_reason;
            memory.last_error = standing.last_error;
            memory.file_size = standing.file_size;
            memory.replay_seen = standing.replay_seen;
            memory.intended_size = standing.intended_size;
            memory.intended = standing.intended;
            memory.intended_decision = standing.intended_decision;
            memory.inherited_from = standing.inherited_from;
            break;
        }
        case SectionId::kTotals:
            journal.totals = Read<Totals>(bytes, head.element_size);
            break;
        case SectionId::kDecisions:
            ReadAll(bytes, head, journal.decisions);
            break;
        case SectionId::kWindows:
            ReadAll(bytes, head, journal.windows);
            break;
        case SectionId::kCheckpoints:
            ReadAll(bytes, head, journal.checkpoints);
            break;
        case SectionId::kImages:
            memory.images = Read<ImageProfile>(bytes, head.element_size);
            break;
        case SectionId::kBuckets:
            ReadAll(bytes, head, journal.buckets);
            break;
        default:
            break;  // a newer version's
    }
}

void Forget(TunerMemory& memory, Journal& journal) noexcept {
    memory = TunerMemory();
    journal.totals = Totals();
    journal.decisions.Clear();
    journal.windows.Clear();
    journal.checkpoints.Clear();
    journal.buckets.Clear();
}

}  // namespace

std::size_t HistoryCapacity(std::uint32_t windows) noexcept {
    return 11 * sizeof(SectionHead) + sizeof(Identity) + sizeof(RecoverySamples) + sizeof(Original) +
           sizeof(CycleMemory) + sizeof(Standing) + sizeof(Totals) +
           kDecisionCapacity * sizeof(DecisionRecord) + windows * sizeof(WindowRecord) +
           kCheckpointCapacity * sizeof(CheckpointRecord) + sizeof(ImageProfile) +
           kBucketCapacity * sizeof(WalBucket);
}

std::size_t EncodeHistory(const TunerMemory& memory, const Journal& journal, std::byte* buffer,
                          std::size_t capacity) noexcept {
    Writer writer(buffer, capacity);
    Standing standing = {};
    standing.last_size = memory.last_size;
    standing.held_since = memory.held_since;
    standing.windows_since_change = memory.windows_since_change;
    standing.held = memory.held;
    standing.held_reason = memory.held_reason;
    standing.last_error = memory.last_error;
    standing.file_size = memory.file_size;
    standing.replay_seen = memory.replay_seen;
    standing.intended_size = memory.intended_size;
    standing.intended = memory.intended;
    standing.intended_decision = memory.intended_decision;
    standing.inherited_from = memory.inherited_from;
    writer.One(SectionId::kOriginal, memory.original);
    writer.One(SectionId::kIdentity, memory.identity);
    writer.One(SectionId::kRecoveries, memory.recoveries);
    writer.One(SectionId::kCycles, memory.cycles);
    writer.One(SectionId::kStanding, standing);
    writer.One(SectionId::kTotals, journal.totals);
    writer.All(SectionId::kDecisions, journal.decisions);
    writer.All(SectionId::kWindows, journal.windows);
    writer.All(SectionId::kCheckpoints, journal.checkpoints);
    writer.One(SectionId::kImages, memory.images);
    writer.All(SectionId::kBuckets, journal.buckets);
    return writer.Used();
}

bool DecodeHistory(const std::byte* bytes, std::size_t size, TunerMemory& memory, Journal& journal) noexcept {
    Forget(memory, journal);
    bool has_standing = false;
    std::size_t at = 0;
    while (at < size) {
        SectionHead head;
        if (size - at < sizeof(head)) break;
        std::memcpy(&head, bytes + at, sizeof(head));
        const std::size_t body = at + sizeof(head);
        const std::size_t length = std::size_t{head.element_size} * head.count;
        if (length > size - body || (head.count > 0 && head.element_size == 0)) break;
        // A single value needs one element to be read at all.
        if (head.count > 0) ReadSection(head, bytes + body, memory, journal);
        has_standing = has_standing || head.id == static_cast<std::uint32_t>(SectionId::kStanding);
        at = body + length;
    }
    if (at == size && has_standing) return true;
    Forget(memory, journal);
    return false;
}

}  // namespace walsizer
