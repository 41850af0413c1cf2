// SPDX-License-Identifier: Apache-2.0
#include "census/page_cursor.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "census/selection.hpp"

namespace ttmem::census {

namespace {

constexpr char kSeparator = '-';

std::string hex(uint64_t number) {
    std::array<char, 16> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr};
}

std::string hex(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string result;
    for (const char c : text) {
        result += kDigits[static_cast<unsigned char>(c) >> 4];
        result += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return result;
}

// Reads a number up to the separator or the end, and removes both from the text.
bool take(std::string_view& text, auto& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    const auto length = static_cast<size_t>(end - text.data());
    if (problem != std::errc() || (length != text.size() && *end != kSeparator)) {
        return false;
    }
    text.remove_prefix(std::min(length + 1, text.size()));
    return true;
}

bool take_text(std::string_view digits, std::string& text) {
    if (digits.size() % 2 != 0 || digits.size() > 2 * kMostKeyBytes) {
        return false;
    }
    for (; !digits.empty(); digits.remove_prefix(2)) {
        unsigned char byte = 0;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
        if (problem != std::errc() || end != digits.data() + 2) {
            return false;
        }
        text += static_cast<char>(byte);
    }
    return true;
}

// Identifies the list: an FNV-1a hash of the query.
uint32_t list_of(const AllocationQuery& query) {
    uint32_t hash = 2'166'136'261;
    const auto add = [&](std::string_view text) {
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
        }
        hash = (hash ^ 0x100) * 16'777'619;  // the end of a text, distinct from every character
    };
    add(name_of(query.sort));
    add(query.reverse ? "r" : "");
    add(query.device ? "d" + *query.device : "");
    add(query.pid ? std::to_string(*query.pid) : "");
    add(query.kind.text());
    add(query.name);
    add(query.since ? std::to_string(*query.since) : "");
    return hash;
}

}  // namespace

std::string write_cursor(const AllocationQuery& query, const Place& place) {
    assert((place.text != nullptr) == (query.sort == Sort::name));
    // read_cursor() refuses longer texts.
    assert(place.text == nullptr || place.text->size() <= kMostKeyBytes);
    std::string result = hex(uint64_t{list_of(query)});
    for (const uint64_t number : {place.first, place.second, uint64_t{place.pid}, uint64_t{place.ledger},
                                  uint64_t{place.slot}, place.generation}) {
        result += kSeparator + hex(number);
    }
    return place.text != nullptr ? result + kSeparator + hex(*place.text) : result;
}

std::optional<PageCursor> read_cursor(const AllocationQuery& query, std::string_view text) {
    PageCursor cursor;
    Place& place = cursor.place;
    uint32_t list = 0;
    const bool is_good = take(text, list) && list == list_of(query) && take(text, place.first) &&
                         take(text, place.second) && take(text, place.pid) && take(text, place.ledger) &&
                         take(text, place.slot) && take(text, place.generation) &&
                         take_text(text, cursor.text) && (query.sort == Sort::name || text.empty());
    return is_good ? std::optional(std::move(cursor)) : std::nullopt;
}

}  // namespace ttmem::census
