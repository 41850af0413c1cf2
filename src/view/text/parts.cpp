// SPDX-License-Identifier: Apache-2.0
#include "view/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

std::string hidden_line(const Hidden& hidden, bool exact_bytes) {
    if (hidden.processes == 0) {
        return "";
    }
    std::string text = format_count(hidden.processes, "process", "processes") + " of other users";
    const char* separator = ", with ";
    for (size_t kind = 0; kind < hidden.memory.size(); ++kind) {
        if (hidden.memory[kind].used != 0) {
            text += fmt::format("{}{} of {}", separator, format_bytes(hidden.memory[kind].used, exact_bytes),
                                name_of(static_cast<census::Kind>(kind)));
            separator = ", ";
        }
    }
    return text + (separator == std::string_view(", ") ? " (sums over devices)" : "");
}

Text hidden_text(const std::string& hidden) {
    Text text;
    if (!hidden.empty()) {
        constexpr size_t kWidth = 80;
        for (std::string& line : wrap_words("Not listed: " + hidden + ".", kWidth)) {
            text.add(Line(std::move(line), Tone::warn));
        }
        text.add(kWhoSeesHidden);
    }
    return text;
}

Text empty_list_text(const std::string& note, const std::string& hidden) {
    return Text().add(note).add(hidden_text(hidden));
}

Text hidden_below(const std::string& hidden) {
    return hidden.empty() ? Text() : Text().blank().add(hidden_text(hidden));
}

Text inexact_text(const std::vector<census::Inexactness>& inexact) {
    Text reasons;
    uint64_t skipped = 0;
    for (const census::Inexactness& reason : inexact) {
        if (reason.is_skipped()) {
            ++skipped;
        } else if (reason.reason == census::Reason::not_listed) {
            continue;
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

Text no_process_text(const Origin& origin, const std::vector<census::Inexactness>& inexact,
                     const Hidden& hidden, bool exact_bytes) {
    Text text;
    if (origin.source == OriginSource::recording) {
        text.add(host_line(origin, "no recorded process at this moment (--at peak:dram shows the peak)"));
        return text.add(inexact_text(inexact));
    }
    text.add(host_line(origin, hidden.processes == 0 ? "no tracked process" : "no tracked process of yours"));
    text.add(hidden_below(hidden_line(hidden, exact_bytes)));
    text.add(
        Text("\n"
             "A process is tracked if 'ttmem run' starts it, with any tt-metal:\n"
             "    ttmem run -- python3 model.py\n"
             "A program that reports to ttmem itself needs only TT_ALLOC_TRACKING_ENABLED=1.\n"));
    if (origin.source == OriginSource::direct) {
        text.add("Without ttmemd, only root sees the processes of other users.");
    }
    return text.add(inexact_text(inexact));
}

Text missed_text(std::optional<uint64_t> processes) {
    Text text;
    if (processes.value_or(0) != 0) {
        text.add(fmt::format("Missed: {} that ended before ttmemd could read {}.",
                             format_count(*processes, "short-lived process", "short-lived processes"),
                             *processes == 1 ? "it" : "them"));
    }
    return text;
}

Text shared_text(const View& view) {
    std::map<std::string, std::vector<uint32_t>> devices_by_kinds;
    for (const census::DeviceFigures& device : view.figures.devices) {
        std::string kinds;
        for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
            const census::MemoryFigures& memory = device.memory[kind];
            if (memory.is_known && memory.capacity && memory.used > *memory.capacity) {
                kinds += (kinds.empty() ? "" : ", ") + std::string(name_of(static_cast<census::Kind>(kind)));
            }
        }
        devices_by_kinds[kinds].push_back(device.id);
    }
    devices_by_kinds.erase("");
    Text text;
    for (const auto& [kinds, devices] : devices_by_kinds) {
        text.add(Line(fmt::format("More than 100% of {} on {}: several allocators share the memory.", kinds,
                                  format_devices(devices)),
                      Tone::warn));
    }
    return text;
}

Text wrapped(const std::string& sentence, size_t width) {
    Text text;
    for (std::string& line : wrap_words(sentence, width)) {
        text.add(std::move(line));
    }
    return text;
}

}  // namespace ttmem::view
