// The history as bytes: whatever is offered, DecodeHistory() reads it or refuses it, and what it reads can be
// used. Sanitizers end the process where it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "rig.hpp"
#include "walsizer/history.hpp"

namespace walsizer::test {
namespace {

using ByteRow = std::vector<std::byte>;

// What each section begins with, as history.hpp describes it: {id, element size, count, reserved}.
struct Head {
    std::uint32_t id;
    std::uint32_t element_size;
    std::uint32_t count;
    std::uint32_t reserved;
};

struct Section {
    Head head;
    ByteRow body;
};

std::vector<Section> Split(const ByteRow& bytes) {
    std::vector<Section> sections;
    for (std::size_t at = 0; at < bytes.size();) {
        Section section;
        std::memcpy(&section.head, bytes.data() + at, sizeof(Head));
        at += sizeof(Head);
        const std::size_t length = std::size_t{section.head.element_size} * section.head.count;
        section.body.assign(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        at += length;
        sections.push_back(section);
    }
    return sections;
}

ByteRow Join(const std::vector<Section>& sections) {
    ByteRow bytes;
    for (const Section& section : sections) {
        const auto* head = reinterpret_cast<const std::byte*>(&section.head);
        bytes.insert(bytes.end(), head, head + sizeof(Head));
        bytes.insert(bytes.end(), section.body.begin(), section.body.end());
    }
    return bytes;
}

// The same sections with elements of another size, as a version writes them that knows more or fewer fields.
void Resize(Section& section, std::uint32_t size) {
    const std::uint32_t old = section.head.element_size;
    ByteRow body(std::size_t{size} * section.head.count, std::byte{0x5A});
    for (std::uint32_t i = 0; i < section.head.count; ++i)
        std::memcpy(body.data() + std::size_t{i} * size, section.body.data() + std::size_t{i} * old,
                    std::min(size, old));
    section.body = body;
    section.head.element_size = size;
}

ByteRow Encode(const TunerMemory& memory, const Journal& journal) {
    ByteRow bytes(HistoryCapacity(journal.windows.capacity()));
    bytes.resize(EncodeHistory(memory, journal, bytes.data(), bytes.size()));
    return bytes;
}

// An exact copy on the heap, so that a read past its end is caught.
bool Decode(const ByteRow& bytes, Rig& rig, TunerMemory& memory) {
    const ByteRow exact(bytes.begin(), bytes.end());
    return DecodeHistory(exact.data(), exact.size(), memory, rig.journal);
}

// A life with raises, windows, checkpoints, a recovery, an order to hold.
class HistoryOf : public testing::Test {
  protected:
    HistoryOf() {
        lived.server.settings.checkpoint_timeout = 30 * kSecond;
        lived.server.settings.max_wal_size = 64 * kMiB;
        lived.server.load = [](double) { return Load{MB(20), MB(10), 10}; };
        lived.Run(3 * kMinute);
        lived.Ask(CommandKind::kUndo);
        lived.Run(kMinute);
        Identity identity;
        identity.system_identifier = 7;
        identity.directory_inode = 11;
        identity.data_directory.Set("/srv/data");
        lived.tuner.Identify(identity);
        lived.tuner.LearnRecovery({kGiB, 12 * kSecond});
        lived.tuner.LearnRecovery({2 * kGiB, 20 * kSecond});
        memory = lived.tuner.memory();
        valid = Encode(memory, lived.journal);
    }

    void ExpectTheSame(const TunerMemory& got, Rig& rig) {
        EXPECT_EQ(got.last_size, memory.last_size);
        EXPECT_EQ(got.held, memory.held);
        EXPECT_STREQ(got.held_reason.c_str(), memory.held_reason.c_str());
        EXPECT_EQ(got.original.known, memory.original.known);
        EXPECT_EQ(got.recoveries.samples[1].bytes, kGiB);
        EXPECT_TRUE(got.identity.SameAs(memory.identity));
        EXPECT_EQ(got.cycles.redo, memory.cycles.redo);
        EXPECT_EQ(rig.totals.decisions, lived.totals.decisions);
        EXPECT_EQ(rig.totals.wal_bytes, lived.totals.wal_bytes);
        ASSERT_EQ(rig.journal.decisions.size(), lived.journal.decisions.size());
        ASSERT_EQ(rig.journal.windows.size(), lived.journal.windows.size());
        ASSERT_EQ(rig.journal.checkpoints.size(), lived.journal.checkpoints.size());
        for (std::uint32_t age = 0; age < rig.journal.decisions.size(); ++age) {
            const DecisionRecord& now = rig.journal.decisions.Newest(age);
            const DecisionRecord& before = lived.journal.decisions.Newest(age);
            EXPECT_EQ(now.id, before.id);
            EXPECT_EQ(now.new_size, before.new_size);
            EXPECT_STREQ(now.reason.c_str(), before.reason.c_str());
        }
        EXPECT_EQ(rig.journal.windows.Newest(1).wal_bytes, lived.journal.windows.Newest(1).wal_bytes);
        ASSERT_EQ(rig.journal.buckets.size(), lived.journal.buckets.size());
        EXPECT_EQ(rig.journal.buckets.Newest(0).start, lived.journal.buckets.Newest(0).start);
        EXPECT_EQ(rig.journal.buckets.Newest(0).image_bytes, lived.journal.buckets.Newest(0).image_bytes);
        EXPECT_EQ(got.images.Fit().Images(1e5), memory.images.Fit().Images(1e5));
    }

    Rig lived;
    TunerMemory memory;
    ByteRow valid;
};

TEST_F(HistoryOf, ALifeComesBackWhole) {
    ASSERT_GT(lived.journal.decisions.size(), 2U);
    ASSERT_GT(lived.journal.windows.size(), 2U);
    ASSERT_GT(lived.journal.buckets.size(), 50U);
    ASSERT_TRUE(memory.images.Fit().known);
    Rig rig;
    TunerMemory got;
    ASSERT_TRUE(Decode(valid, rig, got));
    ExpectTheSame(got, rig);
    // And once more: nothing is lost by being written again.
    EXPECT_EQ(Encode(got, rig.journal), valid);
}

// Longer elements end in fields that this version does not know; it must not trip over them.
TEST_F(HistoryOf, ANewerVersionIsReadAsFarAsKnown) {
    std::vector<Section> sections = Split(valid);
    for (Section& section : sections) Resize(section, section.head.element_size + 24);
    sections.insert(sections.begin(), {{4711, 5, 3, 0}, ByteRow(15, std::byte{0xFF})});
    Rig rig;
    TunerMemory got;
    ASSERT_TRUE(Decode(Join(sections), rig, got));
    ExpectTheSame(got, rig);
}

// Shorter elements lack the newest fields: these keep their initial values.
TEST_F(HistoryOf, AnOlderVersionLeavesTheNewestFieldsAtTheirInitialValues) {
    std::vector<Section> sections = Split(valid);
    for (Section& section : sections)
        if (section.head.count > 0) Resize(section, section.head.element_size / 2);
    Rig rig;
    TunerMemory got;
    ASSERT_TRUE(Decode(Join(sections), rig, got));
    EXPECT_EQ(got.last_size, memory.last_size);
    EXPECT_EQ(got.file_size, 0);
    EXPECT_EQ(got.intended, Change::kNone);
    EXPECT_EQ(rig.journal.decisions.size(), lived.journal.decisions.size());
    EXPECT_EQ(rig.journal.decisions.Newest(0).id, lived.journal.decisions.Newest(0).id);
}

// The first version kept windows up to in_recovery and decisions up to their reason.
TEST_F(HistoryOf, WindowsAndDecisionsOfTheFirstVersionAreReadAndSayWhatTheyDoNotKnow) {
    std::vector<Section> sections = Split(valid);
    for (Section& section : sections) {
        if (section.head.element_size == sizeof(WindowRecord))
            Resize(section, offsetof(WindowRecord, timeout));
        if (section.head.element_size == sizeof(DecisionRecord))
            Resize(section, offsetof(DecisionRecord, window));
    }
    Rig rig;
    TunerMemory got;
    ASSERT_TRUE(Decode(Join(sections), rig, got));
    ExpectTheSame(got, rig);
    ASSERT_GT(lived.journal.windows.Newest(0).timeout, 0);
    EXPECT_EQ(rig.journal.windows.Newest(0).timeout, 0);
    EXPECT_EQ(rig.journal.windows.Newest(0).xids, -1);
    EXPECT_EQ(rig.journal.windows.Newest(0).stat_bytes, -1);
    EXPECT_EQ(rig.journal.decisions.Newest(0).window.length, -1);
}

TEST_F(HistoryOf, ABufferThatIsOneByteShortIsRefusedAndNotOverrun) {
    for (std::size_t capacity : {valid.size() - 1, valid.size() / 2, std::size_t{1}, std::size_t{0}}) {
        ByteRow buffer(capacity);
        EXPECT_EQ(EncodeHistory(memory, lived.journal, buffer.data(), capacity), 0U) << capacity;
    }
}

TEST_F(HistoryOf, EveryTruncationIsRefusedOrEndsBetweenSections) {
    std::vector<std::size_t> ends;
    std::size_t end = 0;
    for (const Section& section : Split(valid)) ends.push_back(end += sizeof(Head) + section.body.size());
    Rig rig;
    for (std::size_t size = 0; size < valid.size(); size += size < 4096 ? 1 : 97) {
        const ByteRow cut(valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(size));
        TunerMemory got;
        const bool read = Decode(cut, rig, got);
        EXPECT_TRUE(!read || std::count(ends.begin(), ends.end(), size) == 1) << size;
        if (!read) {
            EXPECT_EQ(got.last_size, 0) << size;
            EXPECT_EQ(rig.journal.decisions.size(), 0U) << size;
            EXPECT_EQ(rig.totals.decisions, 0) << size;
        }
    }
}

class Mutator {
  public:
    explicit Mutator(std::uint32_t seed) : random_(seed) {}
    std::size_t Below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }

    ByteRow Noise(std::size_t longest) {
        ByteRow bytes(Below(longest));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
        return bytes;
    }

    // One to four of: a flipped bit, a run of one value, a cut, a doubled piece, an extreme number.
    void Mutate(ByteRow& bytes) {
        for (std::size_t left = 1 + Below(4); left > 0 && !bytes.empty(); --left) {
            // Damage near the beginning meets the heads and single values, elsewhere mostly windows.
            const std::size_t at =
                Below(Below(2) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 2500));
            const std::size_t room = bytes.size() - at;
            const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
            const std::size_t length = 1 + Below(std::min<std::size_t>(room, 600));
            const auto to = from + static_cast<std::ptrdiff_t>(length);
            switch (Below(6)) {
                case 0:
                    *from ^= static_cast<std::byte>(1U << Below(8));
                    break;
                case 1:
                    std::fill(from, to, static_cast<std::byte>(Below(3) * 127));
                    break;
                case 2:
                    bytes.erase(from, to);
                    break;
                case 3: {
                    const ByteRow piece(from, to);
                    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(Below(bytes.size())),
                                 piece.begin(), piece.end());
                    break;
                }
                case 4:
                    bytes.resize(at);
                    break;
                default: {
                    static constexpr std::uint32_t kEdges[] = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
                    const std::size_t aligned = at / 4 * 4;
                    if (aligned + 4 <= bytes.size()) std::memcpy(&bytes[aligned], &kEdges[Below(6)], 4);
                }
            }
        }
    }

  private:
    std::mt19937 random_;
};

// Uses what was decoded as the SQL views and the next save do: strings end, names exist, the bytes can be
// written.
void Use(const TunerMemory& got, Rig& rig) {
    std::size_t text = std::strlen(got.original.text.c_str()) + std::strlen(got.held_reason.c_str()) +
                       std::strlen(got.last_error.c_str()) + std::strlen(got.identity.data_directory.c_str());
    for (std::uint32_t age = 0; age < rig.journal.decisions.size(); ++age) {
        const DecisionRecord& row = rig.journal.decisions.Newest(age);
        text += std::strlen(row.reason.c_str()) + std::strlen(Name(row.action)) +
                std::strlen(Name(row.cause)) + std::strlen(Name(row.limited_by));
        EXPECT_NE(row.outcome, Outcome::kPending);
    }
    for (std::uint32_t age = 0; age < rig.journal.checkpoints.size(); ++age)
        text += std::strlen(Name(rig.journal.checkpoints.Newest(age).cause));
    EXPECT_LT(text, std::size_t{1} << 20);
    EXPECT_LE(got.recoveries.count, RecoverySamples::kKept);
    EXPECT_LE(rig.journal.windows.size(), rig.journal.windows.capacity());
    static ByteRow buffer;
    buffer.resize(HistoryCapacity(rig.journal.windows.capacity()));
    EXPECT_GT(EncodeHistory(got, rig.journal, buffer.data(), buffer.size()), 0U);
}

constexpr int kCases = 100'000;

TEST_F(HistoryOf, OneHundredThousandDamagedOnesNeverCrashIt) {
    Mutator mutator(20260131);
    Rig rig;
    int read = 0;
    for (int i = 0; i < kCases; ++i) {
        ByteRow bytes = i % 5 == 0 ? mutator.Noise(2000) : valid;
        if (i % 5 != 0) mutator.Mutate(bytes);
        TunerMemory got;
        const bool ok = Decode(bytes, rig, got);
        read += ok;
        if (ok) Use(got, rig);
        if (!ok) {
            ASSERT_EQ(rig.journal.decisions.size(), 0U) << i;
            ASSERT_EQ(got.original.known, false) << i;
        }
        if (HasFailure()) FAIL() << "case " << i;
    }
    // Neither all refused nor all read: both ways were tried.
    EXPECT_GT(read, kCases / 20);
    EXPECT_LT(read, kCases - kCases / 5);
}

// A section with no element says nothing; one with elements of size 0 would never end.
TEST_F(HistoryOf, EmptyElementsAreRefused) {
    Rig rig;
    TunerMemory got;
    EXPECT_FALSE(Decode(Join({{{6, 0, 0xFFFFFFFF, 0}, {}}}), rig, got));
    EXPECT_FALSE(Decode(Join({{{3, 0, 1, 0}, {}}}), rig, got));
}

}  // namespace
}  // namespace walsizer::test
