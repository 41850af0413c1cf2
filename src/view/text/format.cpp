// SPDX-License-Identifier: Apache-2.0
#include "view/text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/utf8.hpp"

namespace ttmem::view {

namespace {

constexpr std::string_view kCut = "...";

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
    while (amount >= 999.95 && unit + 1 < kUnits.size()) {  // four digits need the next unit
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string format_signed_bytes(int64_t bytes, bool exact) {
    const auto amount = static_cast<uint64_t>(bytes);
    return bytes < 0 ? fmt::format("-{}", format_bytes(0 - amount, exact)) : format_bytes(amount, exact);
}

std::string prose_bytes(uint64_t bytes, bool exact) {
    return format_bytes(bytes, exact) + (exact ? " B" : "");
}

std::string prose_signed_bytes(int64_t bytes, bool exact) {
    return format_signed_bytes(bytes, exact) + (exact ? " B" : "");
}

std::string format_age(uint64_t ns) {
    const uint64_t seconds = ns / 1'000'000'000;
    if (seconds == 0 && ns != 0) {
        return ns < 1'000'000 ? "<1ms" : fmt::format("{}ms", ns / 1'000'000);
    }
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
    assert(filled <= inner);
    const std::string first = filled == 0 && part != 0 ? "-" : "";  // less than one cell
    return fmt::format("[{}{}{}]", std::string(filled, '#'), first,
                       std::string(inner - filled - first.size(), '.'));
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

std::string format_devices(const std::vector<uint32_t>& ids) {
    return fmt::format("{} {}", ids.size() == 1 ? "device" : "devices", format_ids(ids));
}

size_t display_width(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const base::Utf8Character character = base::decode_utf8(text);
        width += base::column_count(character.code);
        text.remove_prefix(character.bytes);
    }
    return width;
}

std::vector<std::string> wrap_words(std::string_view text, size_t width) {
    constexpr std::string_view kIndent = "  ";
    std::vector<std::string> lines = {""};
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        std::string& line = lines.back();
        const bool is_first = line.empty() || line == kIndent;
        if (is_first) {
            line += word;
        } else if (display_width(line) + 1 + display_width(word) <= width) {
            line += " " + std::string(word);
        } else {
            lines.push_back(std::string(kIndent) + std::string(word));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
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
        assert(bytes < text.size());  // the whole text is too wide, so the loop ends before it
        const base::Utf8Character character = base::decode_utf8(text.substr(bytes));
        if (columns + base::column_count(character.code) > width - kCut.size()) {
            return std::string(text.substr(0, bytes)) + std::string(kCut);
        }
        columns += base::column_count(character.code);
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
        assert(!text.empty());
        const base::Utf8Character character = base::decode_utf8(text);
        columns -= base::column_count(character.code);
        text.remove_prefix(character.bytes);
    }
    return std::string(kCut) + std::string(text);
}

std::string escape_cell(const std::string& text) {
    std::string result;
    for (const char c : text) {
        result += c == '|' || c == '<' ? std::string("\\") + c : std::string(1, c == '\n' ? ' ' : c);
    }
    return result;
}

}  // namespace ttmem::view
