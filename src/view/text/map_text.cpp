// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::AddressMap;
using census::MapBlock;

// One cell per part of the bank: '#' if all of it is used, '+' if some of it is, '.' if it is free. Even the smallest block and the
// smallest gap are visible.
Text picture(const AddressMap& map, size_t width) {
    if (!map.largest_free || map.bank.size == 0 || width == 0 || map.left_out != 0) {
        return {};
    }
    std::vector<double> taken(width, 0);
    const double cell = static_cast<double>(map.bank.size) / static_cast<double>(width);
    for (const MapBlock& block : map.blocks) {
        if (block.is_free) {
            continue;
        }
        const double from = static_cast<double>(block.address - map.bank.base) / cell;
        const double to = from + static_cast<double>(block.bytes) / cell;
        for (size_t at = static_cast<size_t>(from); at < width && static_cast<double>(at) < to; ++at) {
            taken[at] += std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
        }
    }
    constexpr double kAlmost = 1e-9;
    std::string cells;
    for (const double part : taken) {
        cells += part <= 0 ? '.' : part >= 1 - kAlmost ? '#' : '+';
    }
    return Text().add("[" + cells + "]");
}

Text bank_text(const AddressMap& map, const Style& style) {
    const auto bytes = [&](uint64_t amount) { return format_bytes(amount, style.bytes); };
    const std::string title =
        fmt::format("{} of {}: process {}{}", name_of(map.kind), format_devices(map.devices), map.pid,
                    map.set.empty() ? "" : ", set " + map.set);
    Text text;
    text.add(Line(style.cut ? cut_end(title, style.width) : title, Tone::title));
    if (!map.bank.is_known()) {
        return text.add(fmt::format("{} used; bank size not reported", bytes(map.used)));
    }
    text.add(fmt::format("{} of {}, from {:#x}", format_count(map.bank.banks, "bank", "identical banks"),
                         bytes(map.bank.size), map.bank.base));
    const std::string free =
        map.largest_free
            ? fmt::format(", {} free, {} in one block", bytes(*map.free), bytes(*map.largest_free))
            : "; free space unknown: blocks overlap or lie outside the bank";
    return text.add(fmt::format("per bank: {} used{}", bytes(map.used), free));
}

}  // namespace

Text block_table(const AddressMap& map, size_t first, size_t count, const Style& style) {
    Table table({{"ADDRESS"},
                 {"IN BANK"},
                 {"REQUESTED", kRight, 2},
                 {"USED", kRight, 1},
                 {"AGE", kRight, 3},
                 {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    for (size_t i = first; i < std::min(first + count, map.blocks.size()); ++i) {
        const MapBlock& block = map.blocks[i];
        const std::string bytes = format_bytes(block.bytes, style.bytes);
        if (block.is_free) {
            const bool is_largest = block.bytes == map.largest_free;
            table.add({fmt::format("{:#x}", block.address), bytes, "-", "-", "-",
                       Line(is_largest ? "(free, largest)" : "(free)", Tone::good)});
        } else {
            table.add({fmt::format("{:#x}", block.address), bytes, format_bytes(block.requested, style.bytes),
                       format_bytes(block.used, style.bytes), format_age(block.age_ns),
                       block.name.empty() ? "-" : block.name});
        }
    }
    return table.text(style);
}

Text map_text(const MapView& view, const Style& style, size_t limit) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact);
    }
    Text text;
    text.add(headline(view.origin, "device " + view.device, view.is_exact()));
    if (view.maps.empty()) {
        text.blank().add("No matching allocations.");
    }
    bool has_picture = false;
    for (const AddressMap& map : view.maps) {
        const size_t width = std::min<size_t>(std::max<size_t>(style.width, 12), 200) - 2;
        const Text cells = picture(map, width);
        has_picture = has_picture || !cells.empty();
        const size_t shown = limit == 0 ? map.blocks.size() : std::min(limit, map.blocks.size());
        text.blank().add(bank_text(map, style)).add(cells).add(block_table(map, 0, shown, style));
        if (const size_t more = map.blocks.size() - shown + map.left_out; more != 0) {
            text.add(fmt::format("... and {} at higher addresses ('--limit 0' shows all)",
                                 format_count(more, "more block", "more blocks")));
        }
    }
    if (has_picture) {
        text.blank().add(
            Text("Each cell is a part of a bank: # used, + partly used, . free. An allocation has\n"
                 "the same addresses in every bank.\n"));
    }
    return text.add(inexact_text(view.inexact));
}

}  // namespace ttmem::view
