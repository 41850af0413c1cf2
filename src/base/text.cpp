// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace ttmem::base {

namespace {

// Characters that show nothing, or change the direction or the lines of what is beside them. A name with them could look like
// another name.
constexpr std::pair<uint32_t, uint32_t> kInvisible[] = {
    {0x0000, 0x009f},    // controls; ASCII is checked before
    {0x00ad, 0x00ad},    // soft hyphen
    {0x034f, 0x034f},    // combining grapheme joiner
    {0x061c, 0x061c},    // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180b, 0x180f},    // Mongolian selectors and vowel separator
    {0x200b, 0x200f},    // zero width, direction marks
    {0x2028, 0x202e},    // lines, directions
    {0x2060, 0x206f},    // word joiner, invisible operators, directions
    {0x3164, 0x3164},    // Hangul filler
    {0xd800, 0xdfff},    // surrogates
    {0xfe00, 0xfe0f},    // variation selectors
    {0xfeff, 0xfeff},    // byte order mark
    {0xffa0, 0xffa0},    // Hangul filler
    {0xfff9, 0xfffb},    // annotations
    {0xfffe, 0xffff},    // no characters
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical format controls
    {0xe0000, 0xe0fff},  // tags, variation selectors
};

bool is_invisible(uint32_t code) {
    return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                       [&](const auto& range) { return code >= range.first && code <= range.second; });
}

// The length of the well-formed, printable character at the start of `text`; 0 where there is none.
size_t character_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (length == 0 || lead > 0xf4 || length > text.size()) {
        return 0;
    }
    uint32_t code = lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    return overlong || is_invisible(code) || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t length = character_length(text);
        if (length == 0) {
            result += '?';
            text.remove_prefix(1);
        } else {
            result += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return result;
}

std::string format_count(uint64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace ttmem::base
