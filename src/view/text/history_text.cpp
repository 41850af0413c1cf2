// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// Samples are at most a minute apart. After a longer time without one, nobody knows the value.
constexpr uint64_t kLongestGap = 120 * kSecond;

// The time that all charts show, in columns of equal length.
struct TimeAxis {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
    size_t columns = 1;

    size_t column_of(uint64_t time_ns) const {
        const uint64_t length = std::max<uint64_t>(to_ns - from_ns, 1);
        const uint64_t at = std::clamp(time_ns, from_ns, to_ns) - from_ns;
        const auto share = static_cast<long double>(at) / static_cast<long double>(length);
        return std::min(columns - 1, static_cast<size_t>(share * static_cast<long double>(columns)));
    }
};

using Values = std::vector<std::optional<uint64_t>>;

// The highest sample of each column, so that no peak is lost. Between two samples the earlier one holds.
Values column_values(const std::vector<history::Sample>& samples, const TimeAxis& axis) {
    Values values(axis.columns);
    const auto add = [&](size_t column, uint64_t value) {
        values[column] = std::max(values[column].value_or(0), value);
    };
    for (size_t i = 0; i < samples.size(); ++i) {
        const size_t column = axis.column_of(samples[i].time_ns);
        add(column, samples[i].value);
        const bool holds =
            i + 1 < samples.size() && samples[i + 1].time_ns - samples[i].time_ns <= kLongestGap;
        const size_t next = holds ? axis.column_of(samples[i + 1].time_ns) : 0;
        for (size_t between = column + 1; between < next; ++between) {
            add(between, samples[i].value);
        }
    }
    return values;
}

std::string chart_text(const Values& values, uint64_t top, const Style& style) {
    constexpr std::array<const char*, 9> kBlocks = {"_", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<const char*, 9> kLetters = {"_", ".", ":", "-", "=", "+", "*", "%", "#"};
    const auto& levels = style.utf8 ? kBlocks : kLetters;
    std::string text;
    for (const auto& value : values) {
        if (!value) {
            text += " ";
            continue;
        }
        // Any value above 0 is visible, and only the top is full.
        const double share = top == 0 ? 0 : static_cast<double>(*value) / static_cast<double>(top);
        const size_t level = *value == 0     ? 0
                             : *value >= top ? levels.size() - 1
                                             : 1 + static_cast<size_t>(share * 7);
        text += levels[std::min(level, levels.size() - 1)];
    }
    return text;
}

std::string clock_text(uint64_t time_ns) {
    const auto seconds = static_cast<time_t>(time_ns / kSecond);
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The times at the beginning, the middle and the end of the charts, as far as there is room.
std::string axis_text(const TimeAxis& axis) {
    const std::string first = clock_text(axis.from_ns);
    const std::string last = clock_text(axis.to_ns);
    if (axis.columns < first.size() + last.size() + 2) {
        return first + " to " + last;
    }
    std::string text(axis.columns, ' ');
    text.replace(0, first.size(), first);
    text.replace(axis.columns - last.size(), last.size(), last);
    const std::string middle = clock_text(axis.from_ns + (axis.to_ns - axis.from_ns) / 2);
    if (axis.columns >= 3 * (middle.size() + 2)) {
        text.replace(axis.columns / 2 - middle.size() / 2, middle.size(), middle);
    }
    return text;
}

// One chart before it is drawn.
struct HistoryRow {
    const SeriesView* series = nullptr;
    uint64_t top = 0;  // the value of a full cell
    std::string head;
    std::string tail;
};

std::optional<uint64_t> capacity_of(const SeriesView& series,
                                    const std::vector<census::DeviceFigures>& devices) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const auto& one) { return one.id == series.device; });
    const size_t kind = index_of(series.kind);
    return device == devices.end() || kind >= census::kDeviceKinds ? std::nullopt
                                                                   : device->memory[kind].capacity;
}

std::vector<HistoryRow> rows_of(const HistoryView& view, const std::vector<census::DeviceFigures>& devices,
                                const Style& style, HistoryScale scale) {
    std::vector<HistoryRow> rows;
    for (const SeriesView& series : view.series) {
        uint64_t highest = 0;
        for (const history::Sample& sample : series.samples) {
            highest = std::max(highest, sample.value);
        }
        if (highest == 0) {
            continue;
        }
        const auto capacity = scale == HistoryScale::capacity ? capacity_of(series, devices) : std::nullopt;
        std::string tail =
            fmt::format(" now {}, highest {}", prose_bytes(series.samples.back().value, style.bytes),
                        prose_bytes(highest, style.bytes));
        if (capacity.value_or(0) != 0) {
            tail += fmt::format(" ({})", format_percent(highest, capacity));
        }
        rows.push_back({&series, capacity.value_or(0) != 0 ? *capacity : highest,
                        fmt::format("device {:<3} {:<9}", series.device, std::string(name_of(series.kind))),
                        std::move(tail)});
    }
    return rows;
}

TimeAxis axis_of(const HistoryView& view, const std::vector<HistoryRow>& rows, const Style& style) {
    TimeAxis axis{view.origin.time_ns, view.origin.time_ns, 1};
    size_t taken = 0;
    for (const HistoryRow& row : rows) {
        axis.from_ns = std::min(axis.from_ns, row.series->samples.front().time_ns);
        axis.to_ns = std::max(axis.to_ns, row.series->samples.back().time_ns);
        taken = std::max(taken, display_width(row.head) + display_width(row.tail) + 2);
    }
    size_t samples = 1;
    for (const HistoryRow& row : rows) {
        samples = std::max(samples, row.series->samples.size());
    }
    axis.columns = std::min<size_t>(style.width > taken + 10 ? style.width - taken : 10,
                                    std::max<size_t>(samples, (axis.to_ns - axis.from_ns) / kSecond + 1));
    return axis;
}

}  // namespace

Text history_text(const HistoryView& view, const std::vector<census::DeviceFigures>& devices,
                  const Style& style, HistoryScale scale) {
    const std::vector<HistoryRow> rows = rows_of(view, devices, style, scale);
    Text charts;
    if (!rows.empty()) {
        const TimeAxis axis = axis_of(view, rows, style);
        for (const HistoryRow& row : rows) {
            charts.add(fmt::format("{}|{}|{}", row.head,
                                   chart_text(column_values(row.series->samples, axis), row.top, style),
                                   row.tail));
        }
        charts.add(std::string(display_width(rows.front().head) + 1, ' ') + axis_text(axis));
        charts.blank().add(
            scale == HistoryScale::capacity
                ? Text("A full cell is the capacity, where it is known, else the highest value.\n")
                : Text("A full cell is the highest value of the row.\n"));
    }
    if (view.dropped != 0) {
        charts.add(fmt::format("({} {} not kept: too many devices)", view.dropped,
                               view.dropped == 1 ? "series is" : "series are"));
    }
    if (charts.empty()) {
        return charts
            .add(view.origin.source == OriginSource::recording
                     ? "No memory was in use in the recording until this moment."
                     : "No memory has been in use since the daemon started.")
            .add(inexact_text(view.inexact));
    }
    uint64_t from_ns = view.origin.time_ns;
    for (const HistoryRow& row : rows) {
        from_ns = std::min(from_ns, row.series->samples.front().time_ns);
    }
    return Text()
        .add(host_line(view.origin, "used bytes over the last " + format_age(view.origin.time_ns - from_ns)))
        .blank()
        .add(charts)
        .add(inexact_text(view.inexact));
}

}  // namespace ttmem::view
