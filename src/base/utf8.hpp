// SPDX-License-Identifier: Apache-2.0
#pragma once

// UTF-8: decoding, encoding, and how many columns of a terminal a character takes.

#include <cstddef>
#include <string>
#include <string_view>

namespace ttmem::base {

struct Utf8Character {
    char32_t code = U'?';
    size_t bytes = 1;
};

// The first character of a text that is not empty. A byte that begins no character gives '?' of one byte.
Utf8Character decode_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code);

// 0 for combining marks, 2 for East Asian characters and emoji. Covers the ranges that occur in names.
size_t column_count(char32_t code);

}  // namespace ttmem::base
