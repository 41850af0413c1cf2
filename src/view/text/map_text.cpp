// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::AddressMap;
using census::CoreProgram;
using census::Kind;
using census::MapBlock;
using census::MapCore;

constexpr size_t kFreeBlocksInProse = 8;

// The part of a bank that one cell of the picture shows, from 0 to 1.
struct CellShares {
    double buffers = 0;
    double circular_buffers = 0;
};

char cell_of(const CellShares& shares) {
    constexpr double kAlmost = 1 - 1e-9;
    if (shares.buffers + shares.circular_buffers <= 0) {
        return '.';
    }
    return shares.buffers >= kAlmost ? '#' : shares.circular_buffers >= kAlmost ? 'c' : '+';
}

// One cell per part of the bank: '#' if buffers use all of it, 'c' if circular buffers do, '+' if some of it is used, '.' if
// it is free. Even the smallest block and the smallest gap are visible.
Text picture(const AddressMap& map, size_t width) {
    if (!map.largest_free || map.bank.size == 0 || width == 0 || map.left_out != 0) {
        return {};
    }
    std::vector<CellShares> shares(width);
    const double cell = static_cast<double>(map.bank.size) / static_cast<double>(width);
    for (const MapBlock& block : map.blocks) {
        if (block.is_free) {
            continue;
        }
        const bool is_circular = block.circular_buffers != 0 || map.kind == Kind::cb;
        const double from = static_cast<double>(block.address - map.bank.base) / cell;
        const double to = from + static_cast<double>(block.bytes) / cell;
        for (size_t at = static_cast<size_t>(from); at < width && static_cast<double>(at) < to; ++at) {
            (is_circular ? shares[at].circular_buffers : shares[at].buffers) +=
                std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
        }
    }
    std::string cells;
    std::transform(shares.begin(), shares.end(), std::back_inserter(cells), cell_of);
    return Text().add("[" + cells + "]");
}

std::string title_of(const AddressMap& map) {
    std::string text(name_of(map.kind));
    if (map.kind == Kind::cb && map.core && !map.core->programs.empty()) {
        const CoreProgram& program = map.core->programs.front();
        text = "circular buffers of " + (program.program ? fmt::format("program {}", *program.program)
                                                         : std::string("unknown programs"));
        text += program.name.empty() ? "" : " (" + program.name + ")";
    }
    return fmt::format("{} of {}: process {}{}", text, format_devices(map.devices), map.pid,
                       map.set.empty() ? "" : ", set " + map.set);
}

// "core 3,4 (fullest): circular buffers up to 0x5e280, headroom 630.2 KiB".
Text core_text(const MapCore& core, const Style& style) {
    std::string text = core.core ? fmt::format("core {},{} ({})", core.core->x, core.core->y,
                                               core.is_asked ? "as requested" : "fullest")
                                 : std::string("core not known");
    text += core.cb_top ? fmt::format(": circular buffers up to {:#x}", *core.cb_top)
                        : std::string(": no circular buffers");
    if (core.headroom) {
        text += fmt::format(", headroom {}", prose_signed_bytes(*core.headroom, style.bytes));
    }
    Text lines = wrapped(text, style.width);
    if (core.headroom.value_or(0) < 0) {
        lines.add(Line("clash: circular buffers reach into L1 buffers", Tone::bad));
    }
    if (core.without_cores != 0) {
        lines.add(fmt::format("with {} whose cores are not known",
                              format_count(core.without_cores, "circular buffer", "circular buffers")));
    }
    if (core.on_other_cores != 0) {
        lines.add(
            fmt::format("{} not on this core ('--core X,Y' shows another)",
                        format_count(core.on_other_cores, "circular buffer is", "circular buffers are")));
    }
    return lines;
}

// "per bank: 585.9 KiB used, 390.6 KiB free, 293.0 KiB in one block".
std::string amounts_text(const AddressMap& map, const Style& style) {
    const auto bytes = [&](uint64_t amount) { return prose_bytes(amount, style.bytes); };
    std::string text = fmt::format("per bank: {} used", bytes(map.used));
    if (map.kind == Kind::l1 && map.core && map.core->bytes != 0) {
        text += fmt::format(" by buffers, {} by circular buffers", bytes(map.core->bytes));
    }
    return text + (map.largest_free
                       ? fmt::format(", {} free, {} in one block", bytes(*map.free), bytes(*map.largest_free))
                       : "; free space unknown: blocks overlap or lie outside the bank");
}

// "2 free blocks: 293.0 KiB at 0x1aaea0, 97.7 KiB at 0x17a160". No line ends inside of a block.
Text free_blocks_text(const AddressMap& map, const Style& style) {
    if (!map.free || *map.free == 0 || map.left_out != 0) {
        return {};
    }
    std::vector<const MapBlock*> free;
    for (const MapBlock& block : map.blocks) {
        if (block.is_free) {
            free.push_back(&block);
        }
    }
    std::stable_sort(free.begin(), free.end(),
                     [](const MapBlock* a, const MapBlock* b) { return a->bytes > b->bytes; });
    const size_t shown = std::min(free.size(), kFreeBlocksInProse);
    Text text;
    text.add(fmt::format("fragmentation: {} of the free bytes are not in the largest block",
                         format_percent(*map.free - *map.largest_free, map.free)));
    std::string line = format_count(free.size(), "free block:", "free blocks:");
    const auto add = [&](const std::string& part) {
        if (display_width(line) + 1 + display_width(part) > style.width) {
            text.add(line);
            line = " ";
        }
        line += " " + part;
    };
    for (size_t i = 0; i < shown; ++i) {
        add(fmt::format("{} at {:#x}{}", prose_bytes(free[i]->bytes, style.bytes), free[i]->address,
                        i + 1 < free.size() ? "," : ""));
    }
    if (free.size() > shown) {
        add(fmt::format("and {} smaller", free.size() - shown));
    }
    return text.add(line);
}

Text bank_text(const AddressMap& map, const Style& style) {
    const std::string title = title_of(map);
    Text text;
    text.add(Line(style.cut ? cut_end(title, style.width) : title, Tone::title));
    if (map.core) {
        text.add(core_text(*map.core, style));
    }
    if (!map.bank.is_known()) {
        return text.add(fmt::format("{} used; bank size not reported", prose_bytes(map.used, style.bytes)));
    }
    text.add(fmt::format("{} of {}, from {:#x}{}", format_count(map.bank.banks, "bank", "identical banks"),
                         prose_bytes(map.bank.size, style.bytes), map.bank.base,
                         map.kind == Kind::cb && map.core && map.core->lowest_buffer
                             ? fmt::format(" to the lowest buffer at {:#x}", *map.core->lowest_buffer)
                             : ""));
    text.add(wrapped(amounts_text(map, style), style.width));
    return text.add(free_blocks_text(map, style));
}

std::string program_text(std::optional<uint64_t> program) { return program ? std::to_string(*program) : "-"; }

// The programs whose circular buffers lie on the core of a map of L1.
Text core_programs_text(const MapCore& core, const Style& style, size_t limit) {
    if (core.programs.empty()) {
        return {};
    }
    Table table({{"PROGRAM", kRight, 0, 7, Column::KeptPart::end},
                 {"CBS"},
                 {"BYTES"},
                 {"CB TOP"},
                 {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    const size_t shown = limit == 0 ? core.programs.size() : std::min(limit, core.programs.size());
    for (size_t i = 0; i < shown; ++i) {
        const CoreProgram& program = core.programs[i];
        table.add({program_text(program.program), std::to_string(program.count),
                   format_bytes(program.bytes, style.bytes), fmt::format("{:#x}", program.top),
                   program.name.empty() ? "-" : program.name});
    }
    Text text;
    text.blank().add("Circular buffers on this core, by program (programs share addresses):");
    text.add(table.text(style));
    if (const uint64_t more = core.programs.size() - shown + core.programs_left_out; more != 0) {
        text.add(fmt::format("... and {}, none higher ('--limit 0' shows all)",
                             format_count(more, "more program", "more programs")));
    }
    return text;
}

std::string amount_or_dash(std::optional<uint64_t> bytes, const Style& style) {
    return bytes ? format_bytes(*bytes, style.bytes) : "-";
}

Line name_of_block(const MapBlock& block, const AddressMap& map) {
    if (block.is_free) {
        return {block.bytes == map.largest_free ? "(free, largest)" : "(free)", Tone::good};
    }
    return block.name.value_or("-");
}

}  // namespace

Text block_table(const AddressMap& map, size_t first, size_t count, const Style& style) {
    std::vector<Column> columns = {{"ADDRESS", kRight, 0, 0, Column::KeptPart::beginning, 10},
                                   bytes_column("IN BANK", 0, style),
                                   bytes_column("REQUESTED", 2, style),
                                   bytes_column("USED", 1, style),
                                   age_column("AGE", 3),
                                   {"NAME", kLeft, 0, 20, Column::KeptPart::end}};
    const bool has_circular_buffers = map.kind == Kind::l1;
    if (has_circular_buffers) {
        columns.insert(columns.begin() + 2, {"CBS"});
    }
    Table table(std::move(columns));
    for (size_t i = first; i < std::min(first + count, map.blocks.size()); ++i) {
        const MapBlock& block = map.blocks[i];
        std::vector<Line> row = {fmt::format("{:#x}", block.address),
                                 format_bytes(block.bytes, style.bytes),
                                 amount_or_dash(block.requested, style),
                                 amount_or_dash(block.used, style),
                                 block.age_ns ? format_age(*block.age_ns) : "-",
                                 name_of_block(block, map)};
        if (has_circular_buffers) {
            row.insert(row.begin() + 2,
                       block.circular_buffers == 0 ? "-" : std::to_string(block.circular_buffers));
        }
        table.add(std::move(row));
    }
    return table.text(style);
}

namespace {

Text one_map_text(const AddressMap& map, const Text& cells, const Style& style, size_t limit) {
    const size_t shown = limit == 0 ? map.blocks.size() : std::min(limit, map.blocks.size());
    Text text;
    text.add(bank_text(map, style)).add(cells).add(block_table(map, 0, shown, style));
    if (const size_t more = map.blocks.size() - shown + map.left_out; more != 0) {
        text.add(fmt::format("... and {} at higher addresses ('--limit 0' shows all)",
                             format_count(more, "more block", "more blocks")));
    }
    if (map.kind == Kind::l1 && map.core) {
        text.add(core_programs_text(*map.core, style, limit));
    }
    return text;
}

}  // namespace

Text map_text(const MapView& view, const Style& style, size_t limit) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    const size_t picture_width = std::min<size_t>(std::max<size_t>(style.width, 12), 200) - 2;
    Text text;
    text.add(headline(view.origin, format_devices(view.devices), view.is_exact()));
    bool has_picture = false;
    bool has_l1 = false;
    for (const uint32_t device : view.devices) {
        bool has_map = false;
        if (view.devices.size() > 1) {
            text.blank().add(Line(fmt::format("Device {}", device), Tone::title));
        }
        for (const AddressMap& map : view.maps) {
            if (map.device != device) {
                continue;
            }
            has_map = true;
            const Text cells = picture(map, picture_width);
            has_picture = has_picture || !cells.empty();
            has_l1 = has_l1 || map.kind == Kind::l1 || map.kind == Kind::cb;
            text.blank().add(one_map_text(map, cells, style, limit));
        }
        if (!has_map) {
            text.blank().add("No matching allocations.");
        }
    }
    if (view.left_out != 0) {
        text.blank().add(fmt::format("... and {}, none higher ('--limit 0' shows all)",
                                     format_count(view.left_out, "more program", "more programs")));
    }
    if (view.left_aside != 0) {
        text.add(fmt::format("... and {} in no map: too many to list",
                             format_count(view.left_aside, "circular buffer", "circular buffers")));
    }
    if (has_picture) {
        text.blank().add(
            Text("Each cell is a part of a bank: # buffers, c circular buffers, + partly used,\n"
                 ". free. An allocation has the same addresses in every bank.\n"));
        if (has_l1) {
            text.add(kUntrackedL1);
        }
    }
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
