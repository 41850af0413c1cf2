// SPDX-License-Identifier: Apache-2.0
#include "view/text/spans.hpp"

#include <gtest/gtest.h>

#include "view/text/cells.hpp"

namespace ttmem::view {
namespace {

TEST(Spans, TonesBecomeAnsiCodesOnlyWithColour) {
    const Line line = Line("host", Tone::title).add(": ").add("full", Tone::bad);
    EXPECT_EQ(render_ansi(line, true), "\x1b[1mhost\x1b[0m: \x1b[31mfull\x1b[0m\n");
    EXPECT_EQ(render_ansi(line, false), "host: full\n");
}

TEST(Spans, EmptyTextAddsNoSpan) {
    EXPECT_TRUE(Line("").spans().empty());
    EXPECT_EQ(Line("a").add("").add("b", Tone::bad).spans().size(), 2u);
}

TEST(Spans, TrimEndRemovesSpacesAcrossSpans) {
    Line line = Line("a  ").add("  ", Tone::good).add(" ");
    line.trim_end();
    EXPECT_EQ(line, Line("a"));
}

TEST(Spans, PlainTextSplitsIntoLines) {
    const Text text("first\n\nthird\n");
    ASSERT_EQ(text.size(), 3u);
    EXPECT_TRUE(text.lines()[1].spans().empty());
    EXPECT_EQ(render_plain(text), "first\n\nthird\n");
}

TEST(Spans, ALineCanBeAddedToItself) {
    Line line("ab");
    line.add(line);
    EXPECT_EQ(line.plain(), "abab");
}

TEST(Cells, AGaugeIsABarSpanAndAPercentageInTheSameTone) {
    const Line cell = gauge(95, 100, 12);
    ASSERT_EQ(cell.spans().size(), 2u);
    EXPECT_EQ(cell.spans()[0], (Span{"[#########.]", Tone::bad, Shape::bar}));
    EXPECT_EQ(cell.spans()[1], (Span{"  95%", Tone::bad}));
}

TEST(Cells, AGaugeWithoutACapacityHasNoBarAndNoTone) { EXPECT_EQ(gauge(95, std::nullopt, 12), Line("-")); }

TEST(Cells, ALimitedValueIsBadFromItsLimitOn) {
    EXPECT_EQ(limited_cell(74, 75, "C"), Line("74 / 75 C"));
    EXPECT_EQ(limited_cell(75, 75, "C"), Line("75 / 75 C", Tone::bad));
    EXPECT_EQ(limited_value_cell(75, 75, "C"), Line("75 C", Tone::bad));
    EXPECT_EQ(limited_cell(std::nullopt, 75, "C"), Line("-"));
}

}  // namespace
}  // namespace ttmem::view
