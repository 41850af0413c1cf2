// SPDX-License-Identifier: Apache-2.0
#include "tui/canvas.hpp"

#include <gtest/gtest.h>

#include "view/format.hpp"

namespace ttmem::tui {
namespace {

TEST(Canvas, WritesATextAndCutsOffWhatIsOutside) {
    Canvas canvas({2, 5});
    EXPECT_EQ(canvas.put(0, 3, "hello", Look::good), 5);
    canvas.put(7, 0, "nowhere");
    canvas.put(1, -2, "abc");
    EXPECT_EQ(canvas.line(0), "   he");
    EXPECT_EQ(canvas.looks(0), "...gg");
    EXPECT_EQ(canvas.line(1), "c");
}

TEST(Canvas, AWideLetterTakesTwoColumnsAndIsNeverCutInHalf) {
    Canvas canvas({1, 5});
    EXPECT_EQ(canvas.put(0, 0, "漢字漢"), 4);
    EXPECT_EQ(canvas.line(0), "漢字");
    canvas.put(0, 1, "x");
    EXPECT_EQ(canvas.line(0), " x字");
    canvas.put(0, 2, "y");
    EXPECT_EQ(canvas.line(0), " xy");
}

TEST(Canvas, MarksThatTakeNoColumnAreLeftOut) {
    Canvas canvas({1, 5});
    EXPECT_EQ(canvas.put(0, 0, "e\u0301x"), 2);
    EXPECT_EQ(canvas.line(0), "ex");
}

TEST(Canvas, ColoursOfATextBecomeLooks) {
    Canvas canvas({1, 10});
    canvas.put(0, 0, "a\x1b[31mbc\x1b[0md\x1b[1me\x1b[32mf\x1b[33mg");
    EXPECT_EQ(canvas.line(0), "abcdefg");
    EXPECT_EQ(canvas.looks(0), ".bb.Tgw");
}

TEST(Canvas, ControlCharactersMoveNobodysCursor) {
    Canvas canvas({1, 10});
    canvas.put(0, 0,
               "a\x1b"
               "c\td\x07\xff");
    EXPECT_EQ(canvas.line(0), "a?c?d??");
}

TEST(Canvas, BarsBecomeBlocksWhereTheTerminalHasThem) {
    for (const std::string& bar : {view::format_bar(3, 10, 10), std::string("[##]"), std::string("[..]")}) {
        Canvas plain({1, 20}, Glyphs::ascii);
        plain.put(0, 0, bar + " [a] [#");
        EXPECT_EQ(plain.line(0), bar + " [a] [#");
    }
    Canvas canvas({1, 30});
    canvas.put(0, 0, view::format_bar(3, 10, 10) + " [a] [#");
    EXPECT_EQ(canvas.line(0), "[██░░░░░░] [a] [#");
}

TEST(Canvas, WithoutUtf8EachLetterHasAStandIn) {
    Canvas canvas({1, 20}, Glyphs::ascii);
    canvas.put(0, 0, "█░─│▲⣿⣀⠉é漢");
    EXPECT_EQ(canvas.line(0), "#.-|^:.'???");
}

TEST(Canvas, ABoxHasATitle) {
    Canvas canvas({3, 12});
    canvas.box(0, 0, {3, 12}, "Device 0");
    EXPECT_EQ(canvas.line(0), "┌─ Dev... ─┐");
    EXPECT_EQ(canvas.line(1), "│          │");
    EXPECT_EQ(canvas.line(2), "└──────────┘");
}

TEST(Canvas, SplitsLines) {
    EXPECT_EQ(split_lines("a\n\nb\n"), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_TRUE(split_lines("").empty());
}

}  // namespace
}  // namespace ttmem::tui
