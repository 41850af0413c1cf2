// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace ttmem::base {
namespace {

TEST(Utf8, DecodesWhatItEncodes) {
    for (const char32_t code : {U'a', U'\u00e9', U'\u20ac', U'\U0001f600'}) {
        std::string text;
        append_utf8(text, code);
        const Utf8Character character = decode_utf8(text + "x");
        EXPECT_EQ(character.code, code);
        EXPECT_EQ(character.bytes, text.size());
    }
}

TEST(Utf8, AByteThatBeginsNoCharacterIsAQuestionMark) {
    for (const std::string_view text : {"\x80", "\xbf\xbf", "\xe2\x82", "\xc3"}) {
        EXPECT_EQ(decode_utf8(text).code, U'?');
        EXPECT_EQ(decode_utf8(text).bytes, 1u);
    }
}

TEST(Utf8, CharactersTakeNoneOneOrTwoColumns) {
    EXPECT_EQ(column_count(U'a'), 1u);
    EXPECT_EQ(column_count(U'\u0301'), 0u);
    EXPECT_EQ(column_count(U'\u6f22'), 2u);
    EXPECT_EQ(column_count(U'\U0001f600'), 2u);
}

}  // namespace
}  // namespace ttmem::base
