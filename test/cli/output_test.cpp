#include "cli/output.hpp"

#include <gtest/gtest.h>

namespace walsizer::cli {
namespace {

TEST(Output, WrapsAtSpacesWithinTheColumns) {
    EXPECT_EQ(Wrapped("aa bb cc", 2, 0, 7), "  aa bb\n  cc");
    EXPECT_EQ(Wrapped("aa bb cc", 4, 4, 9), "aa bb\n    cc");
    EXPECT_EQ(Wrapped("averylongword", 0, 0, 5), "averylongword");
    EXPECT_EQ(Wrapped("", 3), "   ");
    EXPECT_EQ(Wrapped("need 560 kB.", 0, 0, 9), "need\n560 kB.") << "a figure keeps its unit";
}

TEST(Output, WidthCountsCharactersNotBytesNorColour) {
    EXPECT_EQ(DisplayWidth("контр"), 5u);
    EXPECT_EQ(DisplayWidth(Style(true).Red("ab")), 2u);
    EXPECT_EQ(Style(false).Red("ab"), "ab");
}

TEST(Output, BarIsAsWideAsAskedWhateverItsShare) {
    for (const double share : {-1.0, 0.0, 1e-9, 0.03, 0.5, 0.999, 1.0, 7.0})
        EXPECT_EQ(DisplayWidth(Bar(share, 20)), 20u) << share;
    EXPECT_NE(Bar(1e-9, 20), Bar(0, 20)) << "a little is more than nothing";
}

TEST(Output, CsvQuotesWhatNeedsIt) {
    EXPECT_EQ(CsvRow({"a", "b,c", "say \"x\"", ""}), "a,\"b,c\",\"say \"\"x\"\"\",\n");
}

}  // namespace
}  // namespace walsizer::cli
