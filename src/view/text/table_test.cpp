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
    EXPECT_EQ(render_plain(example().text({.width = 30})),
              "ID  NAME             SIZE  AGE\n"
              " 7  ...kv_cache  14.1 MiB   3s\n"
              "12  x                 1 B  12s\n");
}

TEST(Table, LeavesOutTheHighestRankFirstAndNamesItBelow) {
    EXPECT_EQ(render_plain(example().text({.width = 20})),
              "ID  NAME        SIZE\n"
              " 7  ...che  14.1 MiB\n"
              "12  x            1 B\n"
              "Not shown: age.\n"
              "  Widen the\n"
              "  terminal.\n");
    ColumnChoice choice;
    EXPECT_THAT(render_plain(example().text({.width = 12, .columns = &choice})),
                testing::StartsWith("ID  NAME\n"
                                    " 7  ...cache\n"
                                    "12  x\n"
                                    "Not shown:\n"
                                    "  size, age.\n"
                                    "  Choose\n"));
}

TEST(Table, NamesNothingWhereTheStyleDoesNotWantIt) {
    EXPECT_EQ(example().text({.width = 12, .names_left_out = false}).size(), 3u);
}

TEST(Table, ColumnsOfRank0StayAtAnyWidth) {
    const Style one{.width = 1, .names_left_out = false};
    const Style ten{.width = 10, .names_left_out = false};
    EXPECT_EQ(render_plain(example().text(one)), render_plain(example().text(ten)));
}

TEST(Table, InAPipeNothingIsCutAndNothingLeftOut) {
    EXPECT_EQ(render_plain(example().text({.width = 20, .cut = false})), render_plain(example().text({})));
}

TEST(Table, TheColumnsDoNotChangeWithTheLengthOfANumber) {
    const auto titles = [](const char* amount, size_t width) {
        const Style style{.width = width, .names_left_out = false};
        Table table({{"ID"}, bytes_column("USED", 0, style), {"AGE", kRight, 1}});
        table.add({"7", amount, "3s"});
        return table.text(style).lines().front().plain();
    };
    for (const char* amount : {"1 B", "999.9 MiB"}) {
        EXPECT_THAT(titles(amount, 18), testing::EndsWith("AGE")) << amount;
        EXPECT_THAT(titles(amount, 17), testing::EndsWith("USED")) << amount;
    }
}

TEST(Table, ShowsTheChosenColumnsInTheirOrder) {
    ColumnChoice choice{{"age", "id"}, {}};
    EXPECT_EQ(render_plain(example().text({.width = 5, .columns = &choice})),
              "AGE  ID\n"
              " 3s   7\n"
              "12s  12\n");
    EXPECT_EQ(choice.unknown(), "");
    EXPECT_THAT(choice.offered, ElementsAre("id", "name", "size", "age"));
    choice.names = {"id", "colour"};
    EXPECT_EQ(choice.unknown(), "colour");
    ColumnChoice others{{"elsewhere"}, {}};
    EXPECT_TRUE(example().text({.columns = &others}).empty());
}

TEST(Table, NamesOfColumnsAreTheirTitlesInSmallLetters) {
    EXPECT_EQ(Column{"CB TOP"}.name(), "cb_top");
    EXPECT_EQ(Column{"DRAM USED / CAPACITY"}.name(), "dram_used_capacity");
    EXPECT_EQ(Column{""}.name(), "");
}

TEST(Table, TablesThatFollowEachOtherAreAligned) {
    const auto row = [](const char* amount) {
        Table table({bytes_column("USED", 0, {}), {"ID"}});
        table.align_with_others();
        table.add({amount, "7"});
        return table.text({}).lines().back().plain();
    };
    EXPECT_EQ(row("1 B"), "      1 B   7");
    EXPECT_EQ(row("999.9 MiB"), "999.9 MiB   7");
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
