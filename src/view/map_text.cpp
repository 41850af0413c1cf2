// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"

namespace ttmem::view {

namespace {

using census::AddressMap;
using census::MapBlock;

// One letter for each part of the bank: '#' where all of it is taken, '+' where some is, '.' where none is. What is there is
// seen however small it is, and so is what is free between.
std::string picture(const AddressMap& map, size_t width) {
    if (!map.largest_free || map.bank.size == 0 || width == 0 || map.left_out != 0) {
        return "";
    }
    std::vector<double> taken(width, 0);
    const double letter = static_cast<double>(map.bank.size) / static_cast<double>(width);
    for (const MapBlock& block : map.blocks) {
        if (block.is_free) {
            continue;
        }
        const double from = static_cast<double>(block.address - map.bank.base) / letter;
        const double to = from + static_cast<double>(block.bytes) / letter;
        for (size_t at = static_cast<size_t>(from); at < width && static_cast<double>(at) < to; ++at) {
            taken[at] += std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
        }
    }
    constexpr double kAlmost = 1e-9;
    std::string text;
    for (const double part : taken) {
        text += part <= 0 ? '.' : part >= 1 - kAlmost ? '#' : '+';
    }
    return "[" + text + "]\n";
}

std::string head_of(const AddressMap& map, const Style& style) {
    const auto bytes = [&](uint64_t amount) { return format_bytes(amount, style.bytes); };
    const std::string who = fmt::format(
        "{} of {} {}: process {}{}", name_of(map.kind), map.devices.size() == 1 ? "device" : "devices",
        format_ids(map.devices), map.pid, map.set.empty() ? "" : ", set " + map.set);
    std::string text = coloured(style.cut ? cut_end(who, style.width) : who, Tone::title, style) + "\n";
    if (!map.bank.is_known()) {
        return text + fmt::format("{} taken; how large a bank is was not told\n", bytes(map.used));
    }
    text += fmt::format("{} banks alike, each of {} from {:#x}\n{} of each taken", map.bank.banks,
                        bytes(map.bank.size), map.bank.base, bytes(map.used));
    return text + (map.largest_free ? fmt::format(", {} free, {} in one block\n", bytes(*map.free),
                                                  bytes(*map.largest_free))
                                    : "; blocks lie outside the bank or overlap: free is not known\n");
}

std::string table_of(const AddressMap& map, size_t limit, const Style& style) {
    Table table({{"ADDRESS"},
                 {"IN BANK"},
                 {"REQUESTED", kRight, 2},
                 {"USED", kRight, 1},
                 {"AGE", kRight, 3},
                 {"NAME", kLeft, 0, 20, Column::Keep::end}});
    const size_t shown = limit == 0 ? map.blocks.size() : std::min(limit, map.blocks.size());
    for (const MapBlock& block : std::span(map.blocks).first(shown)) {
        const std::string bytes = format_bytes(block.bytes, style.bytes);
        if (block.is_free) {
            const bool is_largest = block.bytes == map.largest_free;
            table.add({fmt::format("{:#x}", block.address), bytes, "-", "-", "-",
                       Cell(is_largest ? "(free, the largest)" : "(free)", Tone::good)});
        } else {
            table.add({fmt::format("{:#x}", block.address), bytes, format_bytes(block.requested, style.bytes),
                       format_bytes(block.used, style.bytes), format_age(block.age_ns),
                       block.name.empty() ? "-" : block.name});
        }
    }
    std::string text = table.text(style);
    if (const size_t more = map.blocks.size() - shown + map.left_out; more != 0) {
        text += fmt::format("... and {} at higher addresses ('--limit 0' shows all)\n",
                            format_count(more, "more block", "more blocks"));
    }
    return text;
}

}  // namespace

std::string map_text(const MapView& view, const Style& style, size_t limit) {
    if (view.processes == 0) {
        return nobody_text(view.origin, view.inexact, style);
    }
    std::string text = headline(view.origin, "device " + view.device, view.is_exact(), style);
    if (view.maps.empty()) {
        text += "\nNothing lies in the memory that was asked for.\n";
    }
    bool has_picture = false;
    for (const AddressMap& map : view.maps) {
        const size_t width = std::min<size_t>(std::max<size_t>(style.width, 12), 200) - 2;
        const std::string letters = picture(map, width);
        has_picture = has_picture || !letters.empty();
        text += "\n" + head_of(map, style) + letters + table_of(map, limit, style);
    }
    if (has_picture) {
        text +=
            "\nEach letter is a part of a bank: # taken, + in part, . free. An allocation takes\n"
            "the same place in every bank.\n";
    }
    return text + inexact_text(view.inexact, style);
}

}  // namespace ttmem::view
