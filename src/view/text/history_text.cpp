// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

// The highest sample of each column, so that no peak is lost.
std::vector<uint64_t> chart_columns(const std::vector<history::Sample>& samples, size_t width) {
    std::vector<uint64_t> columns;
    const size_t count = std::min(samples.size(), width);
    for (size_t i = 0; i < count; ++i) {
        const size_t from = i * samples.size() / count;
        const size_t to = (i + 1) * samples.size() / count;
        uint64_t highest = 0;
        for (size_t at = from; at < to; ++at) {
            highest = std::max(highest, samples[at].value);
        }
        columns.push_back(highest);
    }
    return columns;
}

std::string chart_text(const std::vector<uint64_t>& columns, uint64_t highest, const Style& style) {
    constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<const char*, 9> kLetters = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    const auto& levels = style.utf8 ? kBlocks : kLetters;
    std::string text;
    for (const uint64_t value : columns) {
        // Any value above 0 is visible, and only the highest is full.
        const double share = highest == 0 ? 0 : static_cast<double>(value) / static_cast<double>(highest);
        const size_t level = value == 0         ? 0
                             : value == highest ? levels.size() - 1
                                                : 1 + static_cast<size_t>(share * 7);
        text += levels[std::min(level, levels.size() - 1)];
    }
    return text;
}

}  // namespace

Text history_text(const HistoryView& view, const Style& style) {
    Text charts;
    for (const SeriesView& series : view.series) {
        uint64_t highest = 0;
        for (const history::Sample& sample : series.samples) {
            highest = std::max(highest, sample.value);
        }
        if (highest == 0) {
            continue;
        }
        const std::string head =
            fmt::format("device {:<3} {:<9}", series.device, std::string(name_of(series.kind)));
        const std::string tail =
            fmt::format("  now {}, highest {}", format_bytes(series.samples.back().value, style.bytes),
                        format_bytes(highest, style.bytes));
        const size_t taken = display_width(head) + display_width(tail) + 2;
        const size_t width = style.width > taken + 10 ? style.width - taken : 10;
        charts.add(fmt::format("{}|{}|{}", head,
                               chart_text(chart_columns(series.samples, width), highest, style), tail));
    }
    if (view.dropped != 0) {
        charts.add(fmt::format("({} {} not kept: too many devices)", view.dropped,
                               view.dropped == 1 ? "series is" : "series are"));
    }
    if (charts.empty()) {
        return charts.add("No memory has been in use since the daemon started.");
    }
    const uint64_t span = view.series.empty() || view.series.front().samples.empty()
                              ? 0
                              : view.origin.time_ns - std::min(view.origin.time_ns,
                                                               view.series.front().samples.front().time_ns);
    return Text()
        .add(host_line(view.origin, "used bytes over the last " + format_age(span)))
        .blank()
        .add(charts);
}

}  // namespace ttmem::view
