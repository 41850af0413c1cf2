// SPDX-License-Identifier: Apache-2.0
#include "view/text/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::view {
namespace {

using testing::ElementsAre;

Table example() {
    Table table(
        {{"ID"}, {"NAME", kLeft, 0, 6, Column::KeptPart::end}, {"SIZE", kRight, 1}, {"AGE", kRight, 2}});
    table.add({"7", "decoder.3/kv_cache", "14.1 MiB", "3s"});
    table.add({"12", "x", "1 B", "12s"});
    return table;
}

TEST(Table, AlignsItsColumnsAndEndsLinesWithoutSpaces) {
    EXPECT_EQ(render_plain(example().text({})),
              "ID  NAME                    SIZE  AGE\n"
              " 7  decoder.3/kv_cache  14.1 MiB   3s\n"
              "12  x                        1 B  12s\n");
}

TEST(Table, CutsCellsBeforeItLeavesOutColumns) {
    std::vector<std::string> left_out;
    EXPECT_EQ(render_plain(example().text({.width = 30}, &left_out)),
              "ID  NAME             SIZE  AGE\n"
              " 7  ...kv_cache  14.1 MiB   3s\n"
              "12  x                 1 B  12s\n");
    EXPECT_THAT(left_out, testing::IsEmpty());
}

TEST(Table, LeavesOutTheHighestRankFirstAndNamesIt) {
    std::vector<std::string> left_out;
    EXPECT_EQ(render_plain(example().text({.width = 20}, &left_out)),
              "ID  NAME        SIZE\n"
              " 7  ...che  14.1 MiB\n"
              "12  x            1 B\n");
    EXPECT_THAT(left_out, ElementsAre("AGE"));
    left_out.clear();
    EXPECT_EQ(render_plain(example().text({.width = 12}, &left_out)),
              "ID  NAME\n"
              " 7  ...cache\n"
              "12  x\n");
    EXPECT_THAT(left_out, ElementsAre("AGE", "SIZE"));
}

TEST(Table, ColumnsOfRank0StayAtAnyWidth) {
    EXPECT_EQ(render_plain(example().text({.width = 1})), render_plain(example().text({.width = 10})));
}

TEST(Table, WithoutCuttingCellsKeepTheirLength) {
    EXPECT_EQ(render_plain(example().text({.width = 20, .cut = false})),
              "ID  NAME                    SIZE\n"
              " 7  decoder.3/kv_cache  14.1 MiB\n"
              "12  x                        1 B\n");
}

TEST(Table, ColourChangesNoWidth) {
    Table table({{"A"}, {"B"}});
    table.add({Line("x", Tone::bad), "long"});
    EXPECT_EQ(render_ansi(table.text({}), true),
              "\x1b[1mA\x1b[0m     \x1b[1mB\x1b[0m\n"
              "\x1b[31mx\x1b[0m  long\n");
    EXPECT_EQ(render_plain(table.text({})), "A     B\nx  long\n");
}

}  // namespace
}  // namespace ttmem::view
