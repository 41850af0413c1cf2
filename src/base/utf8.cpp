// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace ttmem::base {

Utf8Character decode_utf8(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    if (length == 0 || length > text.size()) {
        return {};
    }
    char32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    return {code, length};
}

void append_utf8(std::string& text, char32_t code) {
    const auto add = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xc0 | code >> 6);
        add(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        add(0xe0 | code >> 12);
        add(0x80 | (code >> 6 & 0x3f));
        add(0x80 | (code & 0x3f));
    } else {
        add(0xf0 | code >> 18);
        add(0x80 | (code >> 12 & 0x3f));
        add(0x80 | (code >> 6 & 0x3f));
        add(0x80 | (code & 0x3f));
    }
}

size_t column_count(char32_t code) {
    struct Range {
        char32_t first, last;
        size_t columns;
    };
    constexpr std::array<Range, 12> kRanges = {{{0x300, 0x36f, 0},
                                                {0x1100, 0x115f, 2},
                                                {0x200b, 0x200f, 0},
                                                {0x2e80, 0x303e, 2},
                                                {0x3041, 0xa4cf, 2},
                                                {0xac00, 0xd7a3, 2},
                                                {0xf900, 0xfaff, 2},
                                                {0xfe00, 0xfe0f, 0},
                                                {0xfe30, 0xfe6f, 2},
                                                {0xff00, 0xff60, 2},
                                                {0x1f300, 0x1faff, 2},
                                                {0x20000, 0x3fffd, 2}}};
    const auto* const range = std::find_if(kRanges.begin(), kRanges.end(),
                                           [&](const Range& r) { return code >= r.first && code <= r.last; });
    return range == kRanges.end() ? 1 : range->columns;
}

}  // namespace ttmem::base
