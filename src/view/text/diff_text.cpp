// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

namespace {

std::string diff_title(const DiffView& view) {
    std::string text = fmt::format("{} to {}", view.a.what, view.b.what);
    if (view.b.time_ns > view.a.time_ns && view.a.time_ns != 0 && !view.is_of_peaks) {
        text += fmt::format(", {} later", format_age(view.b.time_ns - view.a.time_ns));
    }
    return text + fmt::format(": {}", view.total == 0
                                          ? "nothing changed"
                                          : format_count(view.total, "name changed", "names changed"));
}

}  // namespace

Text diff_text(const DiffView& view, const Style& style) {
    Text text;
    text.add(Line(diff_title(view)));
    if (!view.changes.empty()) {
        Table table({{"CHANGE"},
                     {"BEFORE", kRight, 1},
                     {"AFTER"},
                     {"", kLeft, 2},
                     {"KIND", kLeft},
                     {"DEV", kLeft, 3},
                     {"PID", kRight, 4},
                     {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
        for (const NameDifference& one : view.changes) {
            table.add({Line((one.change() > 0 ? "+" : "") + format_signed_bytes(one.change(), style.bytes),
                            one.change() > 0 ? Tone::warn : Tone::plain),
                       format_bytes(one.before, style.bytes), format_bytes(one.after, style.bytes),
                       std::string(name_of(one.verdict())), std::string(name_of(one.kind)),
                       one.devices.empty() ? "-" : format_ids(one.devices),
                       one.pid ? std::to_string(*one.pid) : "-", one.name.empty() ? "-" : one.name});
        }
        text.blank().add(table.text(style));
    }
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {} ('--limit 0' shows all)",
                             format_count(view.left_out(), "more name", "more names")));
    }
    text.blank().add(view.is_of_peaks ? "Bytes that were requested when each process had requested most."
                                      : "Bytes per device; a mesh allocation counts once.");
    for (const std::string& note : view.inexact) {
        text.add(Line("inexact: " + note, Tone::warn));
    }
    return text;
}

}  // namespace ttmem::view
