// SPDX-License-Identifier: Apache-2.0
#include "tui/canvas.hpp"

#include <gtest/gtest.h>

#include "view/text/cells.hpp"

namespace ttmem::tui {
namespace {

TEST(Canvas, CutsOffTextOutsideThePicture) {
    Canvas canvas({2, 5});
    EXPECT_EQ(canvas.put(0, 3, "hello", CellStyle::good), 5);
    canvas.put(7, 0, "nowhere");
    canvas.put(1, -2, "abc");
    EXPECT_EQ(canvas.line(0), "   he");
    EXPECT_EQ(canvas.styles(0), "...gg");
    EXPECT_EQ(canvas.line(1), "c");
}

TEST(Canvas, AWideCharacterTakesTwoColumnsAndIsNeverCutInHalf) {
    Canvas canvas({1, 5});
    EXPECT_EQ(canvas.put(0, 0, "漢字漢"), 4);
    EXPECT_EQ(canvas.line(0), "漢字");
    canvas.put(0, 1, "x");
    EXPECT_EQ(canvas.line(0), " x字");
    canvas.put(0, 2, "y");
    EXPECT_EQ(canvas.line(0), " xy");
}

TEST(Canvas, CombiningMarksAreDropped) {
    Canvas canvas({1, 5});
    EXPECT_EQ(canvas.put(0, 0, "e\u0301x"), 2);
    EXPECT_EQ(canvas.line(0), "ex");
}

TEST(Canvas, TonesOfALineBecomeStyles) {
    using view::Tone;
    Canvas canvas({1, 10});
    view::Line line = "a";
    line.add("bc", Tone::bad).add("d").add("e", Tone::title).add("f", Tone::good).add("g", Tone::warn);
    EXPECT_EQ(canvas.put_line(0, 0, line), 7);
    EXPECT_EQ(canvas.line(0), "abcdefg");
    EXPECT_EQ(canvas.styles(0), ".bb.Tgw");
}

TEST(Canvas, ALineIsCutAtItsRoomAcrossSpans) {
    Canvas canvas({1, 10});
    EXPECT_EQ(canvas.put_line(0, 2, view::Line("abc").add("def", view::Tone::bad), 4), 6);
    EXPECT_EQ(canvas.line(0), "  abcd");
    EXPECT_EQ(canvas.styles(0), ".....b");
}

TEST(Canvas, TextThatResemblesAnEscapeSequenceIsText) {
    Canvas canvas({1, 10});
    canvas.put(0, 0, "a\x1b[31mb");
    EXPECT_EQ(canvas.line(0), "a?[31mb");
    EXPECT_EQ(canvas.styles(0), "");
}

TEST(Canvas, ControlCharactersBecomeQuestionMarks) {
    Canvas canvas({1, 10});
    canvas.put(0, 0,
               "a\x1b"
               "c\td\x07\xff");
    EXPECT_EQ(canvas.line(0), "a?c?d??");
}

TEST(Canvas, BarsBecomeBlocksIfTheTerminalHasThem) {
    const view::Line line = view::Line(view::bar(3, 10, 10)).add(" [##..]");
    Canvas ascii({1, 30}, Glyphs::ascii);
    ascii.put_line(0, 0, line);
    EXPECT_EQ(ascii.line(0), "[##......] [##..]");
    Canvas canvas({1, 30});
    canvas.put_line(0, 0, line);
    EXPECT_EQ(canvas.line(0), "[██░░░░░░] [##..]") << "text that resembles a bar stays text";
}

TEST(Canvas, WithoutUtf8EachCharacterHasAnAsciiSubstitute) {
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

}  // namespace
}  // namespace ttmem::tui
