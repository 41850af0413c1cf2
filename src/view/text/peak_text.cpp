// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

std::string ago(const PeakView& view, uint64_t time_ns) {
    return format_age(view.origin.time_ns - std::min(view.origin.time_ns, time_ns)) + " ago";
}

std::string scope_line(const PeakView& view) {
    if (view.kind == census::Kind::cb) {
        return "Requested bytes, on one core of each circular buffer.";
    }
    return view.device ? fmt::format("Requested bytes on device {}.", *view.device)
                       : "Requested bytes per device; a mesh allocation counts once.";
}

Text one_peak(const PeakView& view, const census::ProcessPeak& peak, const Style& style) {
    Text text;
    text.add(fmt::format("Process {} ({}): {} in {}, {}", peak.pid, peak.comm,
                         prose_bytes(peak.requested, style.bytes),
                         format_count(peak.count, "allocation", "allocations"), ago(view, peak.time_ns)));
    text.add(fmt::format("  now: {}{}", prose_bytes(peak.requested_now, style.bytes),
                         peak.used_peak ? fmt::format("; highest use (reserved bytes): {}",
                                                      prose_bytes(*peak.used_peak, style.bytes))
                                        : ""));
    if (peak.since_ns) {
        text.add(Line(fmt::format("  the highest since {}; the peak of the process may lie earlier",
                                  ago(view, *peak.since_ns)),
                      Tone::warn));
    }
    if (!peak.names.empty()) {
        Table table({bytes_column("REQUESTED", 0, style),
                     count_column("COUNT", 0),
                     {"NAME", kLeft, 0, 30, Column::KeptPart::end}});
        table.align_with_others();
        for (const census::PeakName& name : peak.names) {
            table.add({format_bytes(name.requested, style.bytes), std::to_string(name.count),
                       name.name.empty() ? "-" : name.name});
        }
        text.blank().add(table.text(style));
    }
    if (peak.left_out() != 0) {
        text.add(fmt::format("... and {}, none larger ('--limit 0' shows all)",
                             format_count(peak.left_out(), "more name", "more names")));
    }
    return text.blank();
}

}  // namespace

Text peak_text(const PeakView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    const std::string where = view.device ? fmt::format(" on device {}", *view.device) : "";
    text.add(headline(view.origin, fmt::format("peak of {}{}", name_of(view.kind), where), view.is_exact()))
        .blank();
    if (view.peaks.empty()) {
        return text.add(fmt::format("No process has held {}{}.", name_of(view.kind), where))
            .add(end_of_list(view, style.bytes));
    }
    for (const census::ProcessPeak& peak : view.peaks) {
        text.add(one_peak(view, peak, style));
    }
    return text.add(scope_line(view)).add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
