// SPDX-License-Identifier: Apache-2.0

// DRAM and L1 of a device over time, with marks for starts, deaths, failures and gaps.

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "tui/screens.hpp"
#include "view/text/cells.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;

constexpr int kPercentAxisWidth = 6;  // "100%" at the left
constexpr int kAmountAxisWidth = 10;

struct TimeRange {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
};

// Of a recording the first zoom is the whole.
bool shows_whole_recording(const Model& model, const Ui& ui) { return model.is_recording() && ui.zoom == 0; }

TimeRange range_of(const Model& model, const Ui& ui) {
    assert(ui.zoom < kZooms.size());
    if (shows_whole_recording(model, ui)) {
        const access::Timeline& timeline = *model.timeline();
        return {timeline.first_ns + timeline.epoch_offset_ns, timeline.last_ns + timeline.epoch_offset_ns};
    }
    const uint64_t length =
        ui.zoom == 0 ? kSamplesOfAChart * ui.interval_ms * 1'000'000 : kZooms[ui.zoom] * kSecondNs;
    return {model.now_ns() - std::min(model.now_ns(), length), model.now_ns()};
}

// The values in equal parts of a span, as Track::columns().
using ColumnsOfSpan =
    std::function<std::vector<std::optional<double>>(uint64_t from_ns, uint64_t to_ns, size_t count)>;

struct ChartSeries {
    std::string title;
    ColumnsOfSpan columns;  // empty: none are known
    std::optional<uint64_t> capacity;
    std::optional<uint64_t> now;

    bool has_capacity() const { return capacity.value_or(0) != 0; }
    int axis_width() const { return has_capacity() ? kPercentAxisWidth : kAmountAxisWidth; }
};

// The top of the scale: the capacity, or the capacity halved while the highest value still fits. Without a capacity, the highest
// value.
double scale_top(const ChartSeries& series, double highest, ChartScale scale) {
    if (!series.has_capacity()) {
        return std::max(highest, 1.0);
    }
    auto top = static_cast<double>(*series.capacity);
    for (int i = 0; scale == ChartScale::values && i < 6 && highest * 1.05 < top / 2; ++i) {
        top /= 2;
    }
    return std::max(top, highest);
}

// "25%" of the capacity; without one, an amount.
std::string scale_text(const ChartSeries& series, double value) {
    return series.has_capacity()
               ? fmt::format("{:.3g}%", std::round(value / static_cast<double>(*series.capacity) * 1000) / 10)
               : view::format_bytes(static_cast<uint64_t>(value));
}

// Fills the area below the values. A braille character has two by four dots.
void draw_dots(const std::vector<std::optional<double>>& values, double top, CellStyle style, Canvas& canvas,
               const Area& area) {
    constexpr std::array<std::array<char32_t, 2>, 4> kDots = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    assert(values.size() == static_cast<size_t>(area.columns) * 2 && top > 0);
    const int height = area.rows * 4;
    std::vector<int> filled;
    for (const auto& value : values) {
        const int dots = value ? static_cast<int>(std::ceil(*value / top * height)) : 0;
        filled.push_back(std::min(dots, height));
    }
    for (int row = 0; row < area.rows; ++row) {
        for (int column = 0; column < area.columns; ++column) {
            char32_t character = 0x2800;
            for (int dot = 0; dot < 8; ++dot) {
                const int from_below = height - (row * 4 + dot / 2);
                if (filled[static_cast<size_t>(column) * 2 + static_cast<size_t>(dot % 2)] >= from_below) {
                    character |= kDots[static_cast<size_t>(dot / 2)][static_cast<size_t>(dot % 2)];
                }
            }
            if (character != 0x2800) {
                canvas.fill(area.row + row, area.column + column, 1, character, style);
            }
        }
    }
}

void draw_series(const ChartSeries& series, const TimeRange& range, ChartScale scale, Canvas& canvas,
                 const Area& area) {
    std::string title = series.title + " ";
    if (series.now) {
        title += view::format_bytes(*series.now);
        title += series.capacity ? fmt::format(" / {} ({})", view::format_bytes(*series.capacity),
                                               view::format_percent(*series.now, series.capacity))
                                 : "";
    } else {
        title += "unknown";
    }
    canvas.put(area.row, area.column, title, CellStyle::title, area.columns);
    const Area plot{area.row + 1, area.column + series.axis_width(), area.rows - 1,
                    area.columns - series.axis_width()};
    if (plot.rows < 1 || plot.columns < 4 || !series.columns) {
        return;
    }
    const auto values = series.columns(range.from_ns, range.to_ns, static_cast<size_t>(plot.columns) * 2);
    double highest = 0;
    for (const auto& value : values) {
        highest = std::max(highest, value.value_or(0));
    }
    const double top = scale_top(series, highest, scale);
    if (plot.rows > 1) {
        canvas.put_right(plot.end_row() - 1, plot.column - 1, scale_text(series, 0), CellStyle::dim);
    }
    canvas.put_right(plot.row, plot.column - 1, scale_text(series, top), CellStyle::dim);
    for (int row = plot.row; row < plot.end_row(); ++row) {
        canvas.fill(row, plot.column - 1, 1, U'│', CellStyle::dim);
    }
    const CellStyle style =
        series.now ? style_of(view::tone_of(*series.now, series.capacity)) : CellStyle::bar;
    draw_dots(values, top, style == CellStyle::plain ? CellStyle::bar : style, canvas, plot);
}

struct MarkSymbol {
    char32_t character;
    CellStyle style;
    const char* meaning;
};
MarkSymbol symbol_of(ChartMark::Cause cause) {
    switch (cause) {
        case ChartMark::Cause::start:
            return {U'▲', CellStyle::good, "process started"};
        case ChartMark::Cause::death:
            return {U'✗', CellStyle::bad, "process died"};
        case ChartMark::Cause::failure:
            return {U'!', CellStyle::bad, "failure"};
        case ChartMark::Cause::gap:
            return {U'≈', CellStyle::warn, "gap"};
    }
    return {U'?', CellStyle::plain, ""};
}

// Below a chart: the marks and, in the next row or between them, the times.
void draw_axis(const Model& model, const Ui& ui, int rows, Canvas& canvas, const Area& area) {
    const TimeRange range = range_of(model, ui);
    const int left = area.column;
    const int width = area.columns;
    if (width < 4) {
        return;
    }
    canvas.fill(area.row, left, width, U'─', CellStyle::dim);
    const uint64_t length = range.to_ns - range.from_ns;
    const int times = area.row + rows - 1;
    const bool is_whole = shows_whole_recording(model, ui);
    if (rows > 1 || !is_whole) {  // a timeline below has them
        canvas.put(times, left, is_whole ? "beginning" : "-" + view::format_age(length), CellStyle::dim);
        canvas.put_right(times, left + width, is_whole ? "end" : "now", CellStyle::dim);
    }
    if (rows > 1) {
        canvas.put(times, left + width / 2 - 2, (is_whole ? "+" : "-") + view::format_age(length / 2),
                   CellStyle::dim);
    }
    // The least important first, so that it does not hide the others.
    for (const ChartMark::Cause cause : {ChartMark::Cause::start, ChartMark::Cause::gap,
                                         ChartMark::Cause::death, ChartMark::Cause::failure}) {
        for (const ChartMark& mark : model.marks()) {
            if (mark.cause == cause && mark.time_ns >= range.from_ns && mark.time_ns <= range.to_ns) {
                const double share = static_cast<double>(mark.time_ns - range.from_ns) /
                                     static_cast<double>(std::max<uint64_t>(length, 1));
                const MarkSymbol symbol = symbol_of(cause);
                canvas.fill(area.row, left + std::min(static_cast<int>(share * width), width - 1), 1,
                            symbol.character, symbol.style);
            }
        }
    }
}

void draw_legend(Canvas& canvas, int row, const Area& area) {
    int column = area.column + kPercentAxisWidth;
    for (const ChartMark::Cause cause : {ChartMark::Cause::start, ChartMark::Cause::death,
                                         ChartMark::Cause::failure, ChartMark::Cause::gap}) {
        const MarkSymbol symbol = symbol_of(cause);
        canvas.fill(row, column, 1, symbol.character, symbol.style);
        column = canvas.put(row, column + 2, symbol.meaning, CellStyle::dim) + 3;
    }
}

// Of a recording its timeline has the values, of the host the tracks.
ColumnsOfSpan columns_of_device(const Model& model, uint32_t id, Model::RecordedValue value) {
    if (model.is_recording()) {
        return [&model, id, value](uint64_t from_ns, uint64_t to_ns, size_t count) {
            return model.recorded(value, id, from_ns, to_ns, count);
        };
    }
    const auto found = model.tracks().find(id);
    if (found == model.tracks().end()) {
        return {};
    }
    const Track& track = value == Model::RecordedValue::dram ? found->second.dram : found->second.l1_core;
    return [&track](uint64_t from_ns, uint64_t to_ns, size_t count) {
        return track.columns(from_ns, to_ns, count);
    };
}

ChartSeries dram_series(const Model& model, const DeviceFigures& device, std::string title) {
    const census::MemoryFigures& dram = device.memory[index_of(Kind::dram)];
    return {std::move(title), columns_of_device(model, device.id, Model::RecordedValue::dram),
            dram.is_known ? dram.capacity : std::nullopt,
            dram.is_known ? std::optional(dram.used) : std::nullopt};
}

ChartSeries l1_series(const Model& model, const DeviceFigures& device) {
    const census::WorstCore& l1 = device.l1_worst_core;
    return {"L1 core", columns_of_device(model, device.id, Model::RecordedValue::l1_core),
            l1.used ? l1.capacity : std::nullopt, l1.used};
}

void draw_device(const Model& model, const Ui& ui, const DeviceFigures& device, bool with_legend,
                 Canvas& canvas, const Area& area) {
    canvas.box(area.row, area.column, {area.rows, area.columns}, title_of(device));
    const Area inner{area.row + 1, area.column + 1, area.rows - 2, area.columns - 2};
    const int foot_rows = with_legend ? 3 : 2;
    const int each = (inner.rows - foot_rows) / 2;
    if (each < 2) {
        return;
    }
    const TimeRange range = range_of(model, ui);
    const ChartSeries l1 = l1_series(model, device);
    draw_series(dram_series(model, device, "DRAM"), range, ui.scale, canvas,
                {inner.row, inner.column, inner.rows - foot_rows - each, inner.columns});
    draw_series(l1, range, ui.scale, canvas,
                {inner.end_row() - foot_rows - each, inner.column, each, inner.columns});
    draw_axis(
        model, ui, 2, canvas,
        {inner.end_row() - foot_rows, inner.column + l1.axis_width(), 2, inner.columns - l1.axis_width()});
    if (with_legend) {
        draw_legend(canvas, inner.end_row() - 1, inner);
    }
}

}  // namespace

void draw_charts_of(const Model& model, const Ui& ui, const DeviceFigures& device, Canvas& canvas,
                    const Area& area) {
    const TimeRange range = range_of(model, ui);
    const int width = area.columns / 2;
    int column = area.column;
    for (const ChartSeries& series :
         {dram_series(model, device, fmt::format("Device {} DRAM", device.id)), l1_series(model, device)}) {
        draw_series(series, range, ui.scale, canvas, {area.row, column, area.rows - 1, width - 1});
        draw_axis(model, ui, 1, canvas,
                  {area.end_row() - 1, column + series.axis_width(), 1, width - 1 - series.axis_width()});
        column += width;
    }
}

void draw_charts(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return put_note(canvas, area, kNoDevices);
    }
    if (!ui.all_devices || model.status()->figures.devices.size() == 1) {
        return draw_device(model, ui, *device, true, canvas, area);
    }
    // As many devices as fit, from the selected one on.
    constexpr int kLeastRows = 12;
    constexpr int kLeastColumns = 38;
    const auto& devices = model.status()->figures.devices;
    const auto first = static_cast<size_t>(device - devices.data());
    const auto count = static_cast<int>(devices.size());
    const int most_down = std::max(area.rows / kLeastRows, 1);
    const int most_across = std::max(area.columns / kLeastColumns, 1);
    int across = 1;
    while (across < most_across && (count + across - 1) / across > most_down) {
        ++across;
    }
    const int down = std::min((count + across - 1) / across, most_down);
    const int width = area.columns / across;
    const int shown = std::min(across * down, count);
    const int height = (shown < count ? area.rows - 1 : area.rows) / down;
    if (shown < count) {
        canvas.put(area.end_row() - 1, area.column,
                   fmt::format("{} of {} devices, from device {} on; d moves on", shown, count, device->id),
                   CellStyle::warn, area.columns);
    }
    for (int i = 0; i < shown; ++i) {
        const size_t at = (first + static_cast<size_t>(i)) % devices.size();
        draw_device(model, ui, devices[at], false, canvas,
                    {area.row + i / across * height, area.column + i % across * width, height, width});
    }
}

}  // namespace ttmem::tui
