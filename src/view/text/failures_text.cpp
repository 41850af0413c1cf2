// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::FailureFigures;
using census::FailureType;

std::string bytes_or_dash(const std::optional<uint64_t>& bytes, const Style& style) {
    return bytes ? format_bytes(*bytes, style.bytes) : "-";
}

std::string amount_text(const std::optional<uint64_t>& bytes, const Style& style) {
    return bytes ? prose_bytes(*bytes, style.bytes) : "an unknown amount";
}

std::vector<std::string> out_of_memory_lines(const FailureFigures& failure, const Style& style) {
    return {fmt::format("{} requested, {} needed in each bank", amount_text(failure.requested, style),
                        amount_text(failure.needed, style)),
            fmt::format("each bank has {} free, {} in one block", amount_text(failure.free, style),
                        amount_text(failure.largest_free, style))};
}

std::vector<std::string> clash_lines(const FailureFigures& failure, const Style& style) {
    std::vector<std::string> lines = {
        fmt::format(
            "circular buffers{} end at {:#x} on {}",
            failure.program ? fmt::format(" of program {}", *failure.program) : "",
            failure.cb_end.value_or(0),
            failure.core ? fmt::format("core {},{}", failure.core->x, failure.core->y) : "an unknown core"),
        failure.l1_end
            ? fmt::format("L1 ends at {:#x}", *failure.l1_end)
            : fmt::format("the lowest L1 buffer starts at {:#x}", failure.lowest_buffer.value_or(0))};
    if (failure.blocker) {
        lines.back() += fmt::format(" and has {}:", prose_bytes(failure.blocker->used, style.bytes));
        lines.push_back(failure.blocker->name.empty() ? fmt::format("buffer {}", failure.blocker->owner)
                                                      : failure.blocker->name);
    }
    return lines;
}

std::vector<std::string> lines_about(const FailureFigures& failure, const Style& style) {
    switch (failure.type) {
        case FailureType::out_of_memory:
            return out_of_memory_lines(failure, style);
        case FailureType::cb_clash:
            return clash_lines(failure, style);
        case FailureType::unknown_free:
            return {fmt::format("free of the unknown address {:#x}{}", failure.address.value_or(0),
                                failure.logical_device
                                    ? fmt::format(" on the process's device {}", *failure.logical_device)
                                    : "")};
    }
    return {};
}

const char* no_card_text(census::NoCard reason) {
    switch (reason) {
        case census::NoCard::too_soon:
            return "no card: another was written within the same second";
        case census::NoCard::no_host_memory:
            return "no card: the process had no host memory for it";
        case census::NoCard::too_many:
            return "no card: too many live allocations";
        case census::NoCard::not_written:
            break;
    }
    return "no card";
}

}  // namespace

Text failure_table(const std::vector<FailureFigures>& failures, const Style& style) {
    Table table({{"#"},
                 {"AGE"},
                 {"PID"},
                 {"VERDICT", kLeft},
                 {"KIND", kLeft},
                 {"DEV", kLeft, 0, 7},
                 {"REQUESTED"},
                 {"SHORT/BANK"},
                 {"THREAD", kRight, 2},
                 {"SET", kLeft, 1, 8},
                 {"NAME", kLeft, 0, 14, Column::KeptPart::end}});
    Text details;
    const size_t room = style.cut ? std::max<size_t>(style.width, 20) - 6 : SIZE_MAX;
    for (size_t i = 0; i < failures.size(); ++i) {
        const FailureFigures& failure = failures[i];
        table.add({std::to_string(i + 1), format_age(failure.age_ns), std::to_string(failure.pid),
                   Line(std::string(name_of(failure.verdict)), Tone::bad),
                   failure.kind ? std::string(name_of(*failure.kind)) : "-", format_ids(failure.devices),
                   bytes_or_dash(failure.requested, style), bytes_or_dash(failure.short_by, style),
                   std::to_string(failure.thread), failure.set.empty() ? "-" : failure.set,
                   failure.name.empty() ? "-" : failure.name});
        std::string head = fmt::format("{:>4}. ", i + 1);
        for (const std::string& line : lines_about(failure, style)) {
            details.add(head + (display_width(line) > room ? cut_beginning(line, room) : line));
            head = "      ";
        }
        if (failure.no_card) {
            details.add(head + no_card_text(*failure.no_card));
        }
    }
    return table.text(style).blank().add(details);
}

std::string count_text(const census::FailureCounts& counts) {
    if (!counts.is_known) {
        return "not known for one device: not all failures are kept";
    }
    std::vector<std::string> parts;
    if (counts.out_of_memory != 0) {
        parts.push_back(
            format_count(counts.out_of_memory, "out-of-memory failure", "out-of-memory failures"));
    }
    if (counts.cb_clash != 0) {
        parts.push_back(format_count(counts.cb_clash, "circular buffer clash", "circular buffer clashes"));
    }
    if (counts.unknown_free != 0) {
        parts.push_back(format_count(counts.unknown_free, "unknown free", "unknown frees"));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

Text failures_text(const FailureView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(host_line(view.origin, format_count(view.total, "failure", "failures")));
    text.blank();
    if (view.failures.empty()) {
        text.add("No failures.");
    } else {
        text.add(failure_table(view.failures, style));
    }
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {} earlier ('--limit 0' shows all)", view.left_out()));
    }
    if (!view.counts.empty()) {
        text.blank().add("Totals since start (first and last few kept):");
    }
    for (const census::FailureCounts& counts : view.counts) {
        text.add(fmt::format("  process {}: {}", counts.pid, count_text(counts)));
    }
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
