// SPDX-License-Identifier: Apache-2.0
#include "view/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "view/text/format.hpp"

namespace ttmem::view {

Line host_line(const Origin& origin, const std::string& what) {
    return Line(origin.host, Tone::title).add(": " + what);
}

Line headline(const Origin& origin, const std::string& what, bool is_exact) {
    return host_line(origin, what + ", ")
        .add(is_exact ? "figures exact" : "figures inexact", is_exact ? Tone::plain : Tone::warn);
}

std::string processes_text(const std::vector<census::ProcessFigures>& processes) {
    const auto untracked = static_cast<uint64_t>(std::count_if(
        processes.begin(), processes.end(),
        [](const census::ProcessFigures& one) { return one.state == census::ProcessState::untracked; }));
    const std::string tracked =
        format_count(processes.size() - untracked, "tracked process", "tracked processes");
    return untracked == 0 ? tracked : fmt::format("{}, {} untracked", tracked, untracked);
}

Text inexact_text(const std::vector<census::Inexactness>& inexact) {
    Text reasons;
    uint64_t skipped = 0;
    for (const census::Inexactness& reason : inexact) {
        if (reason.is_skipped()) {
            ++skipped;
        } else if (reason.pid == 0) {
            reasons.add("  " + text_of(reason));
        } else {
            const std::string count = reason.count > 1 ? fmt::format(" ({})", reason.count) : "";
            reasons.add(fmt::format("  process {}: {}{}", reason.pid, text_of(reason), count));
        }
    }
    if (skipped != 0) {
        reasons.add(
            fmt::format("  {} skipped and not counted", format_count(skipped, "process", "processes")));
    }
    if (reasons.empty()) {
        return reasons;
    }
    return Text().blank().add(Line("Figures are inexact because:", Tone::warn)).add(reasons);
}

Text no_process_text(const Origin& origin, const std::vector<census::Inexactness>& inexact) {
    Text text;
    text.add(host_line(origin, "no tracked process"));
    text.add(
        Text("\n"
             "A process is tracked if it starts with TT_ALLOC_TRACKING_ENABLED=1, for example:\n"
             "    TT_ALLOC_TRACKING_ENABLED=1 python3 model.py\n"));
    if (origin.source == OriginSource::direct) {
        text.add("Without ttmemd, only root sees the processes of other users.");
    }
    return text.add(inexact_text(inexact));
}

Text left_out_text(const std::vector<std::string>& titles) {
    Text text;
    if (!titles.empty()) {
        text.add(
            fmt::format("Too narrow for {}: widen the terminal, or use --json.", fmt::join(titles, ", ")));
    }
    return text;
}

}  // namespace ttmem::view
