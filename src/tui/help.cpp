// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tui/screens.hpp"

namespace ttmem::tui {

namespace {

struct Help {
    const char* key;  // "": a title
    const char* text;
};

constexpr Help kHelp[] = {{"", "Everywhere"},
                          {"0 ... 7", "the screens, by their numbers"},
                          {"Tab, d / D", "the next device, the one before"},
                          {"a", "lists and charts: all devices, or the chosen one"},
                          {"+ / -", "look less often, more often"},
                          {"arrows, PgUp, PgDn", "move; Home and End go all the way"},
                          {"F6 / r", "the next order, the other way round"},
                          {"/", "filter (Enter takes it, Esc leaves it as it was)"},
                          {"F12", "save these settings"},
                          {"? or F1, q or F10", "this help, quit"},
                          {"", "0 Overview"},
                          {"Enter", "allocations of the chosen process"},
                          {"F9 or k", "send a signal to it"},
                          {"", "2 Charts, 5 Map"},
                          {"z / Z", "look more closely, look at more"},
                          {"n", "the next pool of the map"},
                          {"", "4 Allocations"},
                          {"g / G", "group by name, scope, kind, process ...; list"},
                          {"m / M", "set a mark: what came after it; forget it"},
                          {"", "6 Events, 7 Failures"},
                          {"Space", "stand still, go on"},
                          {"p, Enter", "post-mortems instead of failures; open one"},
                          {"", "Words"},
                          {"used", "reserved bytes, rounding included: what runs out"},
                          {"inexact", "a figure that may be wrong, and why"},
                          {"settling", "something was being recorded while it was read"},
                          {"gap", "events of the history were lost; state is not"},
                          {"stale", "the daemon is gone: this is the last picture"}};

}  // namespace

void draw_help(const Ui& ui, Canvas& canvas, const Area& area) {
    constexpr int kKeyWidth = 22;
    const int count = static_cast<int>(std::size(kHelp));
    const int first =
        std::min(static_cast<int>(std::min<size_t>(ui.scroll, 1000)), std::max(count - area.rows, 0));
    for (int i = first; i < count && i - first < area.rows; ++i) {
        const int row = area.row + i - first;
        if (*kHelp[i].key == '\0') {
            canvas.put(row, area.column, kHelp[i].text, Look::title);
            continue;
        }
        canvas.put(row, area.column + 2, kHelp[i].key, Look::key);
        canvas.put(row, area.column + kKeyWidth, kHelp[i].text);
    }
    if (first + area.rows < count && area.rows > 0) {
        canvas.put_right(area.end_row() - 1, area.column + area.columns, "more below (PgDn)", Look::dim);
    }
}

}  // namespace ttmem::tui
