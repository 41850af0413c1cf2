// SPDX-License-Identifier: Apache-2.0
#include "view/text_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "view/format.hpp"

namespace ttmem::view {

std::string headline(const Origin& origin, const std::string& what, bool is_exact, const Style& style) {
    const std::string exactness = is_exact ? "figures exact" : coloured("figures inexact", Tone::warn, style);
    return fmt::format("{}: {}, {}\n", coloured(origin.host, Tone::title, style), what, exactness);
}

std::string processes_text(const std::vector<census::ProcessFigures>& processes) {
    const auto untracked = static_cast<uint64_t>(
        std::count_if(processes.begin(), processes.end(),
                      [](const census::ProcessFigures& one) { return one.state == "untracked"; }));
    const std::string tracked =
        format_count(processes.size() - untracked, "tracked process", "tracked processes");
    return untracked == 0 ? tracked : fmt::format("{}, {} untracked", tracked, untracked);
}

std::string inexact_text(const std::vector<census::Inexactness>& inexact, const Style& style) {
    std::string text;
    uint64_t skipped = 0;
    for (const census::Inexactness& reason : inexact) {
        if (reason.skipped) {
            ++skipped;
        } else if (reason.pid == 0) {
            text += fmt::format("  {}\n", reason.reason);
        } else {
            text += fmt::format("  process {}: {} ({})\n", reason.pid, reason.reason, reason.count);
        }
    }
    if (skipped != 0) {
        text +=
            fmt::format("  {} skipped, and in no figure\n", format_count(skipped, "process", "processes"));
    }
    return text.empty() ? text
                        : fmt::format("\n{}\n{}", coloured("Inexact, because:", Tone::warn, style), text);
}

std::string nobody_text(const Origin& origin, const std::vector<census::Inexactness>& inexact,
                        const Style& style) {
    return fmt::format(
               "{}: no tracked process\n"
               "\n"
               "A process is tracked if it starts with TT_ALLOC_TRACKING_ENABLED=1, for example:\n"
               "    TT_ALLOC_TRACKING_ENABLED=1 python3 model.py\n"
               "{}",
               coloured(origin.host, Tone::title, style),
               origin.source == "direct" ? "Without ttmemd those of other users are shown to root alone.\n"
                                         : "") +
           inexact_text(inexact, style);
}

std::string left_out_text(const std::vector<std::string>& titles) {
    return titles.empty() ? ""
                          : fmt::format("Too narrow for {}: widen the terminal, or use --json.\n",
                                        fmt::join(titles, ", "));
}

}  // namespace ttmem::view
