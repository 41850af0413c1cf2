// SPDX-License-Identifier: Apache-2.0
#include "view/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ttmem::view {

namespace {

constexpr std::string_view kCut = "...";

struct Character {
    size_t bytes = 1;
    size_t columns = 1;
};

uint32_t code_point(std::string_view text, size_t length) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    uint32_t code = length == 1 ? byte(0) : byte(0) & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        code = code << 6 | (byte(i) & 0x3fu);
    }
    return code;
}

// Combining marks take no column, East Asian characters and emoji two: the ranges that names really have.
size_t columns_of(uint32_t code) {
    struct Range {
        uint32_t first, last;
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

// The first character of a text that is well-formed UTF-8 (base::printable() made it so).
Character first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    const size_t bytes = std::min(length, text.size());
    return {bytes, columns_of(code_point(text, bytes))};
}

}  // namespace

std::string format_bytes(uint64_t bytes, bool exact) {
    if (exact) {
        return std::to_string(bytes);
    }
    if (bytes < 1000) {
        return fmt::format("{} B", bytes);
    }
    constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto amount = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (amount >= 999.95 && unit + 1 < kUnits.size()) {  // four digits are the next unit's
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string format_signed_bytes(int64_t bytes, bool exact) {
    const auto amount = static_cast<uint64_t>(bytes);
    return bytes < 0 ? fmt::format("-{}", format_bytes(0 - amount, exact)) : format_bytes(amount, exact);
}

std::string format_age(uint64_t ns) {
    const uint64_t seconds = ns / 1'000'000'000;
    if (seconds < 60) {
        return fmt::format("{}s", seconds);
    }
    if (seconds < 3600) {
        return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    }
    if (seconds < 86400) {
        return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
    }
    return fmt::format("{}d{:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::string format_percent(uint64_t part, std::optional<uint64_t> whole) {
    if (!whole || *whole == 0) {
        return "-";
    }
    const auto percent =
        static_cast<uint64_t>(static_cast<long double>(part) * 100 / static_cast<long double>(*whole));
    return percent == 0 && part != 0 ? "<1%" : fmt::format("{}%", percent);
}

std::string format_bar(uint64_t part, std::optional<uint64_t> whole, size_t width) {
    if (!whole || *whole == 0 || width < 3) {
        return "";
    }
    const size_t inner = width - 2;
    const auto share = static_cast<long double>(part) / static_cast<long double>(*whole);
    auto filled = part >= *whole ? inner : static_cast<size_t>(share * static_cast<long double>(inner));
    filled = std::max<size_t>(filled, part != 0 ? 1 : 0);
    return fmt::format("[{}{}]", std::string(filled, '#'), std::string(inner - filled, '.'));
}

std::string format_ids(const std::vector<uint32_t>& ids) {
    std::string text;
    for (size_t i = 0; i < ids.size();) {
        size_t last = i;
        while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) {
            ++last;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", ids[i]);
        if (last != i) {
            text += fmt::format("{}{}", last == i + 1 ? "," : "-", ids[last]);
        }
        i = last + 1;
    }
    return text.empty() ? "-" : text;
}

std::string format_count(uint64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

size_t display_width(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const Character character = first_character(text);
        width += character.columns;
        text.remove_prefix(character.bytes);
    }
    return width;
}

std::string cut_end(std::string_view text, size_t width) {
    if (display_width(text) <= width) {
        return std::string(text);
    }
    if (width <= kCut.size()) {
        return std::string(kCut.substr(0, width));
    }
    size_t bytes = 0;
    size_t columns = 0;
    for (;;) {
        const Character character = first_character(text.substr(bytes));
        if (columns + character.columns > width - kCut.size()) {
            return std::string(text.substr(0, bytes)) + std::string(kCut);
        }
        columns += character.columns;
        bytes += character.bytes;
    }
}

std::string cut_beginning(std::string_view text, size_t width) {
    size_t columns = display_width(text);
    if (columns <= width) {
        return std::string(text);
    }
    if (width <= kCut.size()) {
        return std::string(kCut.substr(0, width));
    }
    while (columns > width - kCut.size()) {
        const Character character = first_character(text);
        columns -= character.columns;
        text.remove_prefix(character.bytes);
    }
    return std::string(kCut) + std::string(text);
}

}  // namespace ttmem::view
