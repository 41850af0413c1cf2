// SPDX-License-Identifier: Apache-2.0

// The memory of a bank by address: a picture that can be zoomed, the block at the cursor, and the blocks around it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

namespace {

using census::AddressMap;
using census::MapBlock;

constexpr int kTitleRows = 3;  // the owner, the used bytes, the addresses shown
constexpr int kListRows = 7;   // a blank line, the titles, blocks around the cursor

// The part of a bank that one cell of the picture shows.
struct MapCell {
    double used_share = 0;  // from 0 to 1
    bool is_selected = false;
    CellStyle style = CellStyle::bar;  // of the last block in it
};

// The colour of a name is always the same, whatever lies beside it.
CellStyle style_of_block(const MapBlock& block) {
    constexpr std::array<CellStyle, 3> kStyles = {CellStyle::bar, CellStyle::good, CellStyle::accent};
    uint32_t hash = 2'166'136'261;  // FNV-1a
    for (const char c : block.name.value_or(std::to_string(block.owner.value_or(0)))) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
    }
    return kStyles[hash % kStyles.size()];
}

const MapBlock* block_at(const AddressMap& map, uint64_t offset) {
    const uint64_t address = map.bank.base + offset;
    const auto found = std::find_if(map.blocks.begin(), map.blocks.end(), [&](const MapBlock& block) {
        return address >= block.address && address - block.address < block.bytes;
    });
    return found == map.blocks.end() ? nullptr : &*found;
}

std::vector<MapCell> cells_of(const MapWindow& window, const MapBlock* selected) {
    assert(window.rows > 0 && window.columns > 0 && window.bytes != 0);
    const auto count = static_cast<size_t>(window.rows) * static_cast<size_t>(window.columns);
    std::vector<MapCell> cells(count);
    const double cell_bytes = window.bytes_per_cell();
    for (const MapBlock& block : window.map->blocks) {
        if (block.address < window.map->bank.base) {
            continue;
        }
        const double from =
            (static_cast<double>(block.address - window.map->bank.base) - static_cast<double>(window.from)) /
            cell_bytes;
        const double to = from + static_cast<double>(block.bytes) / cell_bytes;
        for (auto at = static_cast<size_t>(std::max(from, 0.0)); at < count && static_cast<double>(at) < to;
             ++at) {
            const double share =
                std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
            if (share > 0) {
                cells[at].used_share += block.is_free ? 0 : share;
                cells[at].style = style_of_block(block);
                cells[at].is_selected = cells[at].is_selected || &block == selected;
            }
        }
    }
    return cells;
}

void draw_picture(const MapWindow& window, const MapBlock* selected, Canvas& canvas, const Area& area) {
    constexpr double kAlmost = 1e-6;
    const std::vector<MapCell> cells = cells_of(window, selected);
    for (int row = 0; row < window.rows; ++row) {
        for (int column = 0; column < window.columns; ++column) {
            const MapCell& cell = cells[static_cast<size_t>(row) * static_cast<size_t>(window.columns) +
                                        static_cast<size_t>(column)];
            const char32_t character = cell.used_share <= 0             ? U'░'
                                       : cell.used_share >= 1 - kAlmost ? U'█'
                                                                        : U'▒';
            const CellStyle style = cell.is_selected       ? CellStyle::warn
                                    : cell.used_share <= 0 ? CellStyle::dim
                                                           : cell.style;
            canvas.fill(area.row + row, area.column + column, 1, character, style);
        }
    }
    const auto at = static_cast<int>(
        static_cast<double>(window.cursor - std::min(window.cursor, window.from)) / window.bytes_per_cell());
    if (at < window.rows * window.columns) {
        canvas.paint(area.row + at / window.columns, area.column + at % window.columns, 1,
                     CellStyle::selected);
    }
}

std::string description_of(const MapBlock& block, const AddressMap& map) {
    if (block.is_free) {
        return fmt::format("{:#x}: free, {} in each bank{}", block.address, view::format_bytes(block.bytes),
                           block.bytes == map.largest_free ? ", the largest free block" : "");
    }
    const std::string name = block.name.value_or("");
    const std::string title = name.empty() ? fmt::format("buffer {}", block.owner.value_or(0)) : name;
    if (block.circular_buffers != 0) {
        return fmt::format("{:#x}: {}, {} on the core, highest {}", block.address,
                           view::format_count(block.circular_buffers, "circular buffer", "circular buffers"),
                           view::format_bytes(block.bytes), title);
    }
    return fmt::format("{:#x}: {}, {} in each bank, {} old", block.address, title,
                       view::format_bytes(block.bytes), view::format_age(block.age_ns.value_or(0)));
}

void draw_titles(const MapWindow& window, const Ui& ui, Canvas& canvas, const Area& area) {
    const AddressMap& map = *window.map;
    canvas.put(
        area.row, area.column,
        fmt::format("{} of {}: process {}{}", census::name_of(map.kind), view::format_devices(map.devices),
                    map.pid, map.set.empty() ? "" : ", set " + map.set),
        CellStyle::title, area.columns);
    canvas.put_right(area.row, area.column + area.columns,
                     fmt::format(" pool {} of {}", window.index + 1, window.pools), CellStyle::dim);
    std::string text;
    if (!map.bank.is_known()) {
        text = fmt::format("{} used; bank size not reported", view::format_bytes(map.used));
    } else {
        text = fmt::format("{} of {}, from {:#x}: {} used",
                           view::format_count(map.bank.banks, "bank", "identical banks"),
                           view::format_bytes(map.bank.size), map.bank.base, view::format_bytes(map.used));
        text += map.largest_free ? fmt::format(", {} free, {} in one block", view::format_bytes(*map.free),
                                               view::format_bytes(*map.largest_free))
                                 : "; free space unknown";
    }
    text += map.left_out != 0 ? fmt::format(" (without {} at higher addresses)",
                                            view::format_count(map.left_out, "block", "blocks"))
                              : "";
    canvas.put(area.row + 1, area.column, text, CellStyle::plain, area.columns);
    if (window.bytes != 0) {
        canvas.put(area.row + 2, area.column,
                   fmt::format("{:#x} to {:#x}, {} per cell{}", map.bank.base + window.from,
                               map.bank.base + window.from + window.bytes,
                               view::format_bytes(static_cast<uint64_t>(window.bytes_per_cell())),
                               ui.map_zoom == 0 ? "" : fmt::format(", zoom {}x", uint64_t{1} << ui.map_zoom)),
                   CellStyle::dim, area.columns);
    }
}

}  // namespace

MapWindow map_window(const Model& model, const Ui& ui, const Area& area) {
    MapWindow window;
    const auto* view = model.answer<view::MapView>();
    if (view == nullptr || view->maps.empty()) {
        return window;
    }
    window.pools = view->maps.size();
    window.index = chosen_pool(view->maps, ui.pool, ui.target);
    window.map = &view->maps[window.index];
    window.columns = std::max(area.columns, 1);
    window.rows = std::clamp(area.rows - kTitleRows - kListRows - 1, 1, std::max(area.rows / 3, 1));
    if (window.map->bank.is_known() && window.map->bank.size != 0) {
        const census::Bank& bank = window.map->bank;
        const uint64_t of_target =
            ui.target ? ui.target->address - std::min(ui.target->address, bank.base) : 0;
        window.cursor = std::min(ui.map_cursor.value_or(of_target), bank.size - 1);
        window.bytes = std::max<uint64_t>(bank.size >> ui.map_zoom, 1);
        const uint64_t half = window.bytes / 2;
        window.from = std::min(window.cursor > half ? window.cursor - half : 0, bank.size - window.bytes);
        assert(window.bytes <= window.map->bank.size - window.from);
    }
    return window;
}

const MapBlock* block_at_cursor(const Model& model, const Ui& ui, const Area& area) {
    const MapWindow window = map_window(model, ui, area);
    return window.bytes == 0 ? nullptr : block_at(*window.map, window.cursor);
}

void draw_map(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (chosen_device(model, ui) == nullptr) {
        return put_note(canvas, area, kNoDevices);
    }
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    if (chosen_device(model, ui) == nullptr) {
        return put_note(canvas, area, kNoDevices);
    }
    const MapWindow window = map_window(model, ui, area);
    if (window.map == nullptr) {
        const auto* const answer = model.answer<view::MapView>();
        if (answer == nullptr) {
            return put_note(canvas, area, kWaiting);
        }
        return put_note(
            canvas, area,
            view::empty_list_text("No allocations on this device.", view::hidden_line(answer->hidden)));
    }
    draw_titles(window, ui, canvas, area);
    Area rest = area.below(kTitleRows);
    const AddressMap& map = *window.map;
    size_t index = 0;
    if (window.bytes != 0) {
        const MapBlock* selected = block_at(map, window.cursor);
        draw_picture(window, selected, canvas, rest);
        rest = rest.below(window.rows);
        canvas.put(rest.row, rest.column,
                   selected == nullptr ? fmt::format("{:#x}: not among the blocks that are shown",
                                                     map.bank.base + window.cursor)
                                       : description_of(*selected, map),
                   CellStyle::title, rest.columns);
        index = selected == nullptr ? 0 : static_cast<size_t>(selected - map.blocks.data());
        rest = rest.below(2);
    }
    const auto rows = static_cast<size_t>(std::max(rest.rows - 1, 0));
    const size_t from = scroll_to(index, rows, map.blocks.size());
    put_table(canvas, rest, view::block_table(map, from, rows, style_for(canvas, rest)), 0,
              window.bytes != 0 ? std::optional(index - from) : std::nullopt);
}

}  // namespace ttmem::tui
