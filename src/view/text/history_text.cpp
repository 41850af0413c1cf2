// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/table.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kDay = 24 * 3600 * kSecond;
constexpr size_t kMostMoments = 10;   // the last
constexpr size_t kMostDowntimes = 3;  // the last
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
Values column_values(const std::vector<history::Sample>& samples, const TimeAxis& axis,
                     const std::vector<Downtime>& downtimes) {
    Values values(axis.columns);
    const auto add = [&](size_t column, uint64_t value) {
        values[column] = std::max(values[column].value_or(0), value);
    };
    for (size_t i = 0; i < samples.size(); ++i) {
        const size_t column = axis.column_of(samples[i].time_ns);
        add(column, samples[i].value);
        const bool holds =
            i + 1 < samples.size() && samples[i + 1].time_ns - samples[i].time_ns <= kLongestGap &&
            std::none_of(downtimes.begin(), downtimes.end(), [&](const Downtime& downtime) {
                return downtime.to_ns > samples[i].time_ns && downtime.to_ns <= samples[i + 1].time_ns;
            });
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

// With the day where the hour alone would be ambiguous.
std::string clock_text(uint64_t time_ns, bool has_day) {
    const auto seconds = static_cast<time_t>(time_ns / kSecond);
    tm parts{};
    localtime_r(&seconds, &parts);
    if (has_day) {
        return fmt::format("{:02}-{:02} {:02}:{:02}", parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                           parts.tm_min);
    }
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The times at the beginning, the middle and the end of the charts, as far as there is room.
std::string axis_text(const TimeAxis& axis) {
    const bool has_day = axis.to_ns - axis.from_ns > kDay;
    const std::string first = clock_text(axis.from_ns, has_day);
    const std::string last = clock_text(axis.to_ns, has_day);
    if (axis.columns < first.size() + last.size() + 2) {
        return first + " to " + last;
    }
    std::string text(axis.columns, ' ');
    text.replace(0, first.size(), first);
    text.replace(axis.columns - last.size(), last.size(), last);
    const std::string middle = clock_text(axis.from_ns + (axis.to_ns - axis.from_ns) / 2, has_day);
    if (axis.columns >= 3 * (middle.size() + 2)) {
        text.replace(axis.columns / 2 - middle.size() / 2, middle.size(), middle);
    }
    return text;
}

// One chart before it is drawn.
struct HistoryRow {
    const std::vector<history::Sample>* samples = nullptr;
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

uint64_t highest_of(const std::vector<history::Sample>& samples) {
    uint64_t highest = 0;
    for (const history::Sample& sample : samples) {
        highest = std::max(highest, sample.value);
    }
    return highest;
}

std::vector<HistoryRow> rows_of(const HistoryView& view, const std::vector<census::DeviceFigures>& devices,
                                const Style& style, HistoryScale scale) {
    std::vector<HistoryRow> rows;
    for (const SeriesView& series : view.series) {
        const uint64_t highest = highest_of(series.samples);
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
        rows.push_back({&series.samples, capacity.value_or(0) != 0 ? *capacity : highest,
                        fmt::format("device {:<3} {:<9}", series.device, std::string(name_of(series.kind))),
                        std::move(tail)});
    }
    return rows;
}

TimeAxis axis_of(const Origin& origin, const std::vector<HistoryRow>& rows, const Style& style) {
    TimeAxis axis{origin.time_ns, origin.time_ns, 1};
    size_t taken = 0;
    size_t samples = 1;
    for (const HistoryRow& row : rows) {
        axis.from_ns = std::min(axis.from_ns, row.samples->front().time_ns);
        axis.to_ns = std::max(axis.to_ns, row.samples->back().time_ns);
        taken = std::max(taken, display_width(row.head) + display_width(row.tail) + 2);
        samples = std::max(samples, row.samples->size());
    }
    axis.columns = std::min<size_t>(style.width > taken + 10 ? style.width - taken : 10,
                                    std::max<size_t>(samples, (axis.to_ns - axis.from_ns) / kSecond + 1));
    return axis;
}

// The charts of all rows, and their common axis.
Text chart_rows(const std::vector<HistoryRow>& rows, const Origin& origin,
                const std::vector<Downtime>& downtimes, const Style& style) {
    const TimeAxis axis = axis_of(origin, rows, style);
    Text charts;
    for (const HistoryRow& row : rows) {
        charts.add(fmt::format("{}|{}|{}", row.head,
                               chart_text(column_values(*row.samples, axis, downtimes), row.top, style),
                               row.tail));
    }
    return charts.add(std::string(display_width(rows.front().head) + 1, ' ') + axis_text(axis));
}

std::string what_of(const PastMoment& moment, const Style& style) {
    if (moment.type == PastMomentType::death) {
        return moment.ending && *moment.ending != census::Ending::not_known
                   ? std::string(name_of(*moment.ending))
                   : "";
    }
    if (moment.type == PastMomentType::mark) {
        return moment.name;
    }
    std::string text = moment.failure ? std::string(name_of(*moment.failure)) : "";
    if (moment.requested && moment.kind) {
        text += fmt::format(", {} of {}", prose_bytes(*moment.requested, style.bytes),
                            std::string(name_of(*moment.kind)));
    }
    return text + (moment.name.empty() ? "" : ", " + moment.name) + (moment.card ? " (card)" : "");
}

// Times without a daemon, and what happened to processes.
Text past_text(const HistoryView& view, const Style& style) {
    Text text;
    const size_t hidden = view.downtimes.size() - std::min(view.downtimes.size(), kMostDowntimes);
    for (size_t i = hidden; i < view.downtimes.size(); ++i) {
        const Downtime& downtime = view.downtimes[i];
        const bool has_day = view.origin.time_ns - std::min(view.origin.time_ns, downtime.from_ns) > kDay;
        text.add(fmt::format("No daemon ran from {} to {} ({}).", clock_text(downtime.from_ns, has_day),
                             clock_text(downtime.to_ns, has_day),
                             format_age(downtime.to_ns - downtime.from_ns)));
    }
    if (hidden != 0) {
        text.add(fmt::format("... and {} before", format_count(hidden, "time", "times")));
    }
    if (!view.moments.empty()) {
        Table table({{"TIME"},
                     {"EVENT", kLeft},
                     {"PID"},
                     {"USER", kLeft, 0, 5},
                     {"COMMAND", kLeft, 0, 10},
                     {"WHAT", kLeft, 0, 20}});
        const size_t first = view.moments.size() - std::min(view.moments.size(), kMostMoments);
        for (size_t i = first; i < view.moments.size(); ++i) {
            const PastMoment& moment = view.moments[i];
            const bool has_day = view.origin.time_ns - std::min(view.origin.time_ns, moment.time_ns) > kDay;
            table.add({clock_text(moment.time_ns, has_day), std::string(name_of(moment.type)),
                       std::to_string(moment.pid), moment.user, moment.comm, what_of(moment, style)});
        }
        text.add(text.empty() ? Text() : Text().blank()).add(table.text(style));
        if (const uint64_t earlier = first + view.moments_left_out; earlier != 0) {
            text.add(fmt::format("... and {} earlier", earlier));
        }
    }
    return text.add(hidden_below(
        view.hidden_moments == 0
            ? ""
            : format_count(view.hidden_moments, "failure, mark or death", "failures, marks and deaths") +
                  " of other users' processes"));
}

}  // namespace

Text process_history_text(const ProcessHistoryView& view, const Style& style) {
    std::vector<HistoryRow> rows;
    uint64_t from_ns = view.origin.time_ns;
    for (const ProcessSeriesView& series : view.series) {
        const uint64_t highest = highest_of(series.samples);
        if (highest != 0) {
            rows.push_back(
                {&series.samples, highest,
                 fmt::format("{:<15} {:<9}", series.comm, std::string(name_of(series.kind))),
                 fmt::format(" last {}, highest {}", prose_bytes(series.samples.back().value, style.bytes),
                             prose_bytes(highest, style.bytes))});
            from_ns = std::min(from_ns, series.samples.front().time_ns);
        }
    }
    if (rows.empty()) {
        return Text()
            .add(fmt::format("No memory of a process {} is known in this time.", view.pid))
            .add(inexact_text(view.inexact));
    }
    return Text()
        .add(host_line(view.origin, fmt::format("used bytes of process {} over the last {}", view.pid,
                                                format_age(view.origin.time_ns - from_ns))))
        .blank()
        .add(chart_rows(rows, view.origin, {}, style))
        .blank()
        .add("Sums over all devices. A full cell is the highest value of the row.")
        .add(inexact_text(view.inexact));
}

Text history_text(const HistoryView& view, const std::vector<census::DeviceFigures>& devices,
                  const Style& style, HistoryScale scale) {
    const std::vector<HistoryRow> rows = rows_of(view, devices, style, scale);
    Text charts;
    if (!rows.empty()) {
        charts.add(chart_rows(rows, view.origin, view.downtimes, style));
        charts.blank().add(
            scale == HistoryScale::capacity
                ? Text("A full cell is the capacity, where it is known, else the highest value.\n")
                : Text("A full cell is the highest value of the row.\n"));
    }
    if (view.dropped != 0) {
        charts.add(fmt::format("({} {} not kept: too many devices)", view.dropped,
                               view.dropped == 1 ? "series is" : "series are"));
    }
    const Text past = past_text(view, style);
    if (charts.empty()) {
        return charts
            .add(view.origin.source == OriginSource::recording
                     ? "No memory was in use in the recording until this moment."
                     : "No memory was in use in this time, as far as the daemon knows.")
            .add(past.empty() ? Text() : Text().blank())
            .add(past)
            .add(inexact_text(view.inexact));
    }
    uint64_t from_ns = view.origin.time_ns;
    for (const HistoryRow& row : rows) {
        from_ns = std::min(from_ns, row.samples->front().time_ns);
    }
    return Text()
        .add(host_line(view.origin, "used bytes over the last " + format_age(view.origin.time_ns - from_ns)))
        .blank()
        .add(charts)
        .add(past.empty() ? Text() : Text().blank())
        .add(past)
        .add(inexact_text(view.inexact));
}

}  // namespace ttmem::view
