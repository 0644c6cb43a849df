// The history of other versions of walsizer: test/data/first_format.history was written by the first one and
// stays as it is, whatever later ones add. Its bytes are those of a 64-bit little-endian machine.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "rig.hpp"
#include "walsizer/history.hpp"

namespace walsizer::test {
namespace {

constexpr std::size_t kFileHead = 24;  // the extension's: magic, format, length, checksum, reserved

class HistoryOfTheFirstVersion : public testing::Test {
  protected:
    void SetUp() override {
        if (std::endian::native != std::endian::little || sizeof(void*) != 8)
            GTEST_SKIP() << "another layout than the file's";
        std::ifstream file("test/data/first_format.history", std::ios::binary);
        content.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        ASSERT_GT(content.size(), kFileHead) << "run from the top of the source tree";
        content.erase(0, kFileHead);
    }

    bool Decode(const std::string& bytes) {
        return DecodeHistory(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), memory,
                             rig.journal);
    }

    std::string content;
    Rig rig;
    TunerMemory memory;
};

TEST_F(HistoryOfTheFirstVersion, IsReadWhole) {
    ASSERT_TRUE(Decode(content));
    EXPECT_TRUE(memory.held);
    EXPECT_STREQ(memory.held_reason.c_str(), "undo() by alice");
    EXPECT_EQ(memory.last_size, 64 * kMiB);
    EXPECT_EQ(memory.identity.system_identifier, 7U);
    EXPECT_EQ(memory.identity.directory_inode, 11U);
    EXPECT_STREQ(memory.identity.data_directory.c_str(), "/srv/data");
    ASSERT_EQ(memory.recoveries.count, 2U);
    EXPECT_EQ(memory.recoveries.samples[1].bytes, kGiB);
    EXPECT_EQ(memory.recoveries.samples[1].time, 12 * kSecond);

    ASSERT_EQ(rig.journal.decisions.size(), 6U);
    const DecisionRecord& undo = rig.journal.decisions.Newest(0);
    EXPECT_EQ(undo.id, 6);
    EXPECT_EQ(undo.action, Action::kUndo);
    EXPECT_STREQ(undo.reason.c_str(),
                 "undone by alice: max_wal_size = '1GB' is put back in postgresql.auto.conf");
    const DecisionRecord& first = rig.journal.decisions.Newest(5);
    EXPECT_EQ(first.action, Action::kGrow);
    EXPECT_EQ(first.cause, DecisionCause::kAnticipate);
    EXPECT_EQ(first.old_size, 64 * kMiB);
    EXPECT_EQ(first.new_size, 128 * kMiB);

    ASSERT_EQ(rig.journal.windows.size(), 7U);
    EXPECT_EQ(rig.journal.windows.Newest(1).wal_bytes, 734386415);
    ASSERT_EQ(rig.journal.checkpoints.size(), 61U);
}

// Whatever was added since must have the value that says "not known", and not the bytes beside it.
TEST_F(HistoryOfTheFirstVersion, HasNothingOfWhatCameLater) {
    ASSERT_TRUE(Decode(content));
    for (std::uint32_t age = 0; age < rig.journal.windows.size(); ++age) {
        const WindowRecord& window = rig.journal.windows.Newest(age);
        const WindowRecord initial;
        EXPECT_EQ(window.timeout, initial.timeout);
        EXPECT_EQ(window.stat_bytes, initial.stat_bytes);
        EXPECT_EQ(window.xids, initial.xids);
        EXPECT_EQ(window.backend_fsync, initial.backend_fsync);
        EXPECT_EQ(window.completed, initial.completed);
    }
    for (std::uint32_t age = 0; age < rig.journal.decisions.size(); ++age)
        EXPECT_EQ(rig.journal.decisions.Newest(age).window.length, WindowPart().length);
}

// The next save writes it in the present format, with nothing lost.
TEST_F(HistoryOfTheFirstVersion, IsWrittenAgainInThePresentFormat) {
    ASSERT_TRUE(Decode(content));
    std::string again(HistoryCapacity(rig.journal.windows.capacity()), '\0');
    again.resize(
        EncodeHistory(memory, rig.journal, reinterpret_cast<std::byte*>(again.data()), again.size()));
    ASSERT_FALSE(again.empty());
    Rig next;
    TunerMemory got;
    ASSERT_TRUE(
        DecodeHistory(reinterpret_cast<const std::byte*>(again.data()), again.size(), got, next.journal));
    EXPECT_STREQ(got.held_reason.c_str(), memory.held_reason.c_str());
    EXPECT_EQ(got.original.known, memory.original.known);
    EXPECT_EQ(next.journal.decisions.size(), rig.journal.decisions.size());
    EXPECT_STREQ(next.journal.decisions.Newest(3).reason.c_str(),
                 rig.journal.decisions.Newest(3).reason.c_str());
    EXPECT_EQ(next.journal.windows.Newest(1).wal_bytes, rig.journal.windows.Newest(1).wal_bytes);
}

// A newer version's: an action, a cause of a checkpoint and an outcome that this one has no word for. A row
// whose action is not known says nothing that could be shown; everything else stays.
TEST_F(HistoryOfTheFirstVersion, RowsWithActionsOfANewerVersionAreLeftOut) {
    ASSERT_TRUE(Decode(content));
    std::string newer = content;
    const std::string reason = "undone by alice";
    const std::size_t at = newer.find(reason);
    ASSERT_NE(at, std::string::npos);
    newer[at - offsetof(DecisionRecord, reason) + offsetof(DecisionRecord, action)] = 99;
    ASSERT_TRUE(Decode(newer));
    ASSERT_EQ(rig.journal.decisions.size(), 5U);
    EXPECT_EQ(rig.journal.decisions.Newest(0).id, 5);
    EXPECT_TRUE(memory.held);
}

}  // namespace
}  // namespace walsizer::test
