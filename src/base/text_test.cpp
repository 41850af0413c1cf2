// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace ttmem::base {
namespace {

TEST(Text, PrintableTextStaysAsItIs) {
    EXPECT_EQ(printable("ttnn::matmul/kv cache µ 漢字 🙂"), "ttnn::matmul/kv cache µ 漢字 🙂");
}

TEST(Text, ControlCharactersCanNotMoveTheCursor) {
    EXPECT_EQ(printable("a\x1b[2Jb\nc\r\x7f\xc2\x9b"), "a?[2Jb?c????");
    EXPECT_EQ(printable("x\u202ey\u2028"), "x???y???");
}

TEST(Text, CharactersThatShowNothingBecomeQuestionMarks) {
    for (const std::string hidden :
         {"\u200e", "\u200f", "\u061c", "\u200b", "\u200d", "\ufeff", "\u2060", "\u00ad", "\u3164", "\ufe0f",
          "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100"}) {
        EXPECT_EQ(printable("a" + hidden + "b"), "a" + std::string(hidden.size(), '?') + "b");
    }
    EXPECT_EQ(printable("\ufffd"), "\ufffd");  // visible
}

TEST(Text, BrokenUtf8BecomesQuestionMarks) {
    EXPECT_EQ(printable("\xff\xc0\xaf\xe2\x82"), "?????");
    EXPECT_EQ(printable("\xed\xa0\x80"), "???");
    EXPECT_EQ(printable("\xf0\x80\x80\x80"), "????");
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");
}

TEST(FormatCount, HasTheSingularForOneOnly) {
    EXPECT_EQ(format_count(0, "byte is", "bytes are"), "0 bytes are");
    EXPECT_EQ(format_count(1, "byte is", "bytes are"), "1 byte is");
    EXPECT_EQ(format_count(2, "byte is", "bytes are"), "2 bytes are");
}

}  // namespace
}  // namespace ttmem::base
