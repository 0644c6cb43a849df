// The worked example of docs/how-it-decides.md, run, and compared with what the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "rig.hpp"

namespace walsizer::test {
namespace {

std::string Page() {
    const std::ifstream file("docs/how-it-decides.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(WorkedExample, IsWhatThePageSays) {
    Rig rig;
    rig.server.settings.max_wal_size = kGiB;
    rig.server.settings.checkpoint_timeout = 300 * kSecond;
    rig.server.load = [](double) { return Load{6.0 * kMiB, 0, 1}; };
    rig.Run(900 * kSecond);

    const std::string page = Page();
    ASSERT_EQ(rig.journal.decisions.size(), 2u);
    for (std::uint32_t age = 0; age < 2; ++age) {
        const DecisionRecord& raise = rig.journal.decisions.Newest(age);
        const std::string line = std::string("raises max_wal_size from ") + SizeText(raise.old_size).c_str() +
                                 " to " + SizeText(raise.new_size).c_str() + ": " + raise.reason.c_str();
        EXPECT_NE(page.find(line), std::string::npos) << line;
    }
    EXPECT_EQ(rig.journal.decisions.Newest(1).wanted_size, 4144 * kMiB);
    EXPECT_NE(page.find("times 1.9: 4144 MB"), std::string::npos);
    EXPECT_EQ(rig.size(), 3936 * kMiB);
    EXPECT_EQ(rig.tuner.need(rig.journal).size, 3648 * kMiB);
    EXPECT_NE(page.find("times 1.9 is 3648 MB"), std::string::npos);
    EXPECT_EQ(rig.Rows(CheckpointCause::kWal), 0);
}

}  // namespace
}  // namespace walsizer::test
