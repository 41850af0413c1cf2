// SPDX-License-Identifier: Apache-2.0

// Who is where in a bank: a picture that can be looked at more closely, and below it what the cursor is on.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/format.hpp"

namespace ttmem::tui {

namespace {

using census::AddressMap;
using census::MapBlock;
using view::Column;
using view::kLeft;
using view::kRight;

constexpr int kHeadRows = 3;  // whose it is, how much is taken, a blank line
constexpr int kListRows = 7;  // a blank line, the titles, blocks around the cursor

// A part of a bank that one letter stands for.
struct Part {
    double taken = 0;  // from 0 to 1
    bool has_cursor = false;
    bool is_even = false;  // neighbours look different
};

const MapBlock* block_at(const AddressMap& map, uint64_t offset) {
    const uint64_t address = map.bank.base + offset;
    const auto found = std::find_if(map.blocks.begin(), map.blocks.end(), [&](const MapBlock& block) {
        return address >= block.address && address - block.address < block.bytes;
    });
    return found == map.blocks.end() ? nullptr : &*found;
}

std::vector<Part> parts_of(const MapWindow& window, const MapBlock* chosen) {
    const auto count = static_cast<size_t>(window.rows) * static_cast<size_t>(window.columns);
    std::vector<Part> parts(count);
    const double letter = window.letter();
    for (const MapBlock& block : window.map->blocks) {
        if (block.address < window.map->bank.base) {
            continue;
        }
        const double from =
            (static_cast<double>(block.address - window.map->bank.base) - static_cast<double>(window.from)) /
            letter;
        const double to = from + static_cast<double>(block.bytes) / letter;
        for (auto at = static_cast<size_t>(std::max(from, 0.0)); at < count && static_cast<double>(at) < to;
             ++at) {
            const double share =
                std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
            if (share > 0) {
                parts[at].taken += block.is_free ? 0 : share;
                parts[at].is_even = (&block - window.map->blocks.data()) % 2 == 0;
                parts[at].has_cursor = parts[at].has_cursor || &block == chosen;
            }
        }
    }
    return parts;
}

void draw_picture(const MapWindow& window, const MapBlock* chosen, uint64_t cursor, Canvas& canvas,
                  const Area& area) {
    constexpr double kAlmost = 1e-6;
    const std::vector<Part> parts = parts_of(window, chosen);
    for (int row = 0; row < window.rows; ++row) {
        for (int column = 0; column < window.columns; ++column) {
            const Part& part = parts[static_cast<size_t>(row) * static_cast<size_t>(window.columns) +
                                     static_cast<size_t>(column)];
            const char32_t letter = part.taken <= 0 ? U'░' : part.taken >= 1 - kAlmost ? U'█' : U'▒';
            const Look look = part.has_cursor   ? Look::warn
                              : part.taken <= 0 ? Look::dim
                              : part.is_even    ? Look::bar
                                                : Look::good;
            canvas.fill(area.row + row, area.column + column, 1, letter, look);
        }
    }
    const auto at =
        static_cast<int>(static_cast<double>(cursor - std::min(cursor, window.from)) / window.letter());
    if (at < window.rows * window.columns) {
        canvas.paint(area.row + at / window.columns, area.column + at % window.columns, 1, Look::selected);
    }
}

std::string words_for(const MapBlock& block, const AddressMap& map) {
    if (block.is_free) {
        return fmt::format("{:#x}: free, {} in each bank{}", block.address, view::format_bytes(block.bytes),
                           block.bytes == map.largest_free ? ", the largest block" : "");
    }
    return fmt::format("{:#x}: {}, {} in each bank, {} old", block.address,
                       block.name.empty() ? fmt::format("buffer {}", block.owner) : block.name,
                       view::format_bytes(block.bytes), view::format_age(block.age_ns));
}

std::string table_of(const AddressMap& map, size_t from, size_t count, const view::Style& style) {
    view::Table table({{"ADDRESS"},
                       {"IN BANK"},
                       {"REQUESTED", kRight, 2},
                       {"USED", kRight, 1},
                       {"AGE", kRight, 3},
                       {"NAME", kLeft, 0, 20, Column::Keep::end}});
    for (size_t i = from; i < std::min(from + count, map.blocks.size()); ++i) {
        const MapBlock& block = map.blocks[i];
        const std::string bytes = view::format_bytes(block.bytes);
        const std::string address = fmt::format("{:#x}", block.address);
        if (block.is_free) {
            table.add({address, bytes, "-", "-", "-",
                       view::Cell(block.bytes == map.largest_free ? "(free, the largest)" : "(free)",
                                  view::Tone::good)});
        } else {
            table.add({address, bytes, view::format_bytes(block.requested), view::format_bytes(block.used),
                       view::format_age(block.age_ns), block.name.empty() ? "-" : block.name});
        }
    }
    return table.text(style);
}

void draw_head(const MapWindow& window, const Ui& ui, Canvas& canvas, const Area& area) {
    const AddressMap& map = *window.map;
    canvas.put(area.row, area.column,
               fmt::format("{} of device {}: process {}{}", census::name_of(map.kind),
                           view::format_ids(map.devices), map.pid, map.set.empty() ? "" : ", set " + map.set),
               Look::title, area.columns);
    canvas.put_right(area.row, area.column + area.columns,
                     fmt::format(" pool {} of {}", window.index + 1, window.maps), Look::dim);
    std::string text;
    if (!map.bank.is_known()) {
        text = fmt::format("{} taken; how large a bank is was not told", view::format_bytes(map.used));
    } else {
        text = fmt::format("{} banks alike, {} each from {:#x}: {} taken", map.bank.banks,
                           view::format_bytes(map.bank.size), map.bank.base, view::format_bytes(map.used));
        text += map.largest_free ? fmt::format(", {} free, {} in one block", view::format_bytes(*map.free),
                                               view::format_bytes(*map.largest_free))
                                 : "; free space is not known";
    }
    text += map.left_out != 0 ? fmt::format(" (without {} at higher addresses)",
                                            view::format_count(map.left_out, "block", "blocks"))
                              : "";
    canvas.put(area.row + 1, area.column, text, Look::plain, area.columns);
    if (window.bytes != 0) {
        canvas.put(area.row + 2, area.column,
                   fmt::format("{:#x} to {:#x}, {} a letter{}", map.bank.base + window.from,
                               map.bank.base + window.from + window.bytes,
                               view::format_bytes(static_cast<uint64_t>(window.letter())),
                               ui.map_zoom == 0 ? "" : fmt::format(", zoom {}x", uint64_t{1} << ui.map_zoom)),
                   Look::dim, area.columns);
    }
}

}  // namespace

MapWindow map_window(const Model& model, const Ui& ui, const Area& area) {
    MapWindow window;
    const auto* view = model.answer<view::MapView>();
    if (view == nullptr || view->maps.empty()) {
        return window;
    }
    window.maps = view->maps.size();
    window.index = chosen_pool(view->maps, ui.pool);
    window.map = &view->maps[window.index];
    window.columns = std::max(area.columns, 1);
    window.rows = std::clamp(area.rows - kHeadRows - kListRows - 1, 1, std::max(area.rows / 3, 1));
    if (window.map->bank.is_known() && window.map->bank.size != 0) {
        window.bytes = std::max<uint64_t>(window.map->bank.size >> ui.map_zoom, 1);
        const uint64_t half = window.bytes / 2;
        window.from =
            std::min(ui.map_cursor > half ? ui.map_cursor - half : 0, window.map->bank.size - window.bytes);
    }
    return window;
}

void draw_map(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    const MapWindow window = map_window(model, ui, area);
    if (window.map == nullptr) {
        const bool has_answer = model.answer<view::MapView>() != nullptr;
        return put_note(
            canvas, area,
            has_answer ? "Nothing lies in the memory of this device." : "Looking through the ledgers.");
    }
    draw_head(window, ui, canvas, area);
    Area rest = area.below(kHeadRows);
    const AddressMap& map = *window.map;
    size_t index = 0;
    if (window.bytes != 0) {
        const uint64_t cursor = std::min(ui.map_cursor, map.bank.size - 1);
        const MapBlock* chosen = block_at(map, cursor);
        draw_picture(window, chosen, cursor, canvas, rest);
        rest = rest.below(window.rows);
        canvas.put(rest.row, rest.column,
                   chosen == nullptr ? "what is here is not known" : words_for(*chosen, map), Look::title,
                   rest.columns);
        index = chosen == nullptr ? 0 : static_cast<size_t>(chosen - map.blocks.data());
        rest = rest.below(2);
    }
    const auto rows = static_cast<size_t>(std::max(rest.rows - 1, 0));
    const size_t from = scroll_to(index, rows, map.blocks.size());
    put_table(canvas, rest, table_of(map, from, rows, style_for(canvas, rest)), 0,
              window.bytes != 0 ? std::optional(index - from) : std::nullopt);
}

}  // namespace ttmem::tui
