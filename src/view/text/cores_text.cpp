// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

using census::CoreFigures;

std::string address_text(std::optional<uint64_t> address) {
    return address ? fmt::format("{:#x}", *address) : "-";
}

}  // namespace

Text cores_text(const CoreView& view, const Style& style, size_t limit) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    const census::CoreGrid& grid = view.grid;
    Text text;
    text.add(headline(
        view.origin,
        fmt::format("device {}, {}", view.device,
                    grid.size ? fmt::format("{} x {} cores", grid.size->x, grid.size->y)
                              : format_count(grid.cores.size(), "core", "cores") + " with circular buffers"),
        view.is_exact()));
    text.blank();
    if (grid.cores.empty()) {
        text.add("No circular buffers on known cores, and the device's grid is not known.");
    } else {
        std::vector<const CoreFigures*> cores;
        for (const CoreFigures& core : grid.cores) {
            cores.push_back(&core);
        }
        std::stable_sort(cores.begin(), cores.end(), [](const CoreFigures* a, const CoreFigures* b) {
            constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
            return a->headroom.value_or(kUnknown) < b->headroom.value_or(kUnknown);
        });
        Table table({{"CORE"},
                     {"CB TOP", kRight, 0, 0, Column::KeptPart::beginning, 8},
                     {"BUFFER", kRight, 0, 0, Column::KeptPart::beginning, 8},
                     bytes_column("USED", 1, style),
                     bytes_column("HEADROOM", 0, style),
                     pid_column(),
                     {"PROGRAM", kRight, 0, 7, Column::KeptPart::end},
                     {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
        const size_t shown = limit == 0 ? cores.size() : std::min(limit, cores.size());
        for (size_t i = 0; i < shown; ++i) {
            const CoreFigures& core = *cores[i];
            const bool is_clash = core.headroom.value_or(0) < 0;
            table.add({fmt::format("{},{}", core.core.x, core.core.y), address_text(core.cb_top),
                       address_text(grid.lowest_buffer),
                       core.used ? format_bytes(*core.used, style.bytes) : "unknown",
                       core.headroom ? Line(format_signed_bytes(*core.headroom, style.bytes),
                                            is_clash ? Tone::bad : Tone::plain)
                                     : Line("unknown"),
                       core.pid ? std::to_string(*core.pid) : "-",
                       core.program ? std::to_string(*core.program) : "-",
                       core.name.empty() ? "-" : core.name});
        }
        text.add(table.text(style));
        if (cores.size() > shown) {
            text.add(fmt::format("... and {}, none with less headroom ('--limit 0' shows all)",
                                 format_count(cores.size() - shown, "more core", "more cores")));
        }
    }
    if (grid.without_cores != 0) {
        text.add(fmt::format("{} on no core of this list: the cores are not known",
                             format_count(grid.without_cores, "circular buffer is", "circular buffers are")));
    }
    text.add(
        Text("\nCB TOP: end of the highest circular buffer, with its process and program.\n"
             "BUFFER: address of the lowest L1 buffer. HEADROOM: between the two; below 0 is\n"
             "a clash.\n"));
    text.add(kUntrackedL1);
    if (!grid.cores.empty()) {
        text.add(fmt::format("'ttmem map -d {} --core X,Y' shows what is in one core.", view.device));
    }
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
