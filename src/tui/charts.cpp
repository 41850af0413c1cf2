// SPDX-License-Identifier: Apache-2.0

// DRAM and L1 of a device over time, with marks where something happened.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tui/screens.hpp"
#include "view/format.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;

constexpr int kAxis = 10;  // columns for the amounts at the left

struct Span {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
};

Span span_of(const Model& model, const Ui& ui) {
    const uint64_t length =
        ui.zoom == 0 ? kSamplesOfAChart * ui.interval_ms * 1'000'000 : kZooms[ui.zoom] * kSecondNs;
    return {model.now_ns() - std::min(model.now_ns(), length), model.now_ns()};
}

struct Series {
    std::string title;
    const Track* track = nullptr;
    std::optional<uint64_t> capacity;
    std::optional<uint64_t> now;
};

// A round part of the whole that the highest value fits into; where the whole is not known, the highest itself.
double top_of(const Series& series, double highest) {
    if (!series.capacity || *series.capacity == 0) {
        return std::max(highest, 1.0);
    }
    auto top = static_cast<double>(*series.capacity);
    for (int i = 0; i < 10 && highest * 1.05 < top / 2; ++i) {
        top /= 2;
    }
    return std::max(top, highest);
}

// Two by four dots in a letter: the area below the values.
void draw_dots(const std::vector<std::optional<double>>& values, double top, Look look, Canvas& canvas,
               const Area& area) {
    constexpr std::array<std::array<char32_t, 2>, 4> kDots = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    const int height = area.rows * 4;
    std::vector<int> filled;
    for (const auto& value : values) {
        const int dots = value ? static_cast<int>(std::ceil(*value / top * height)) : 0;
        filled.push_back(std::min(dots, height));
    }
    for (int row = 0; row < area.rows; ++row) {
        for (int column = 0; column < area.columns; ++column) {
            char32_t letter = 0x2800;
            for (int dot = 0; dot < 8; ++dot) {
                const int from_below = height - (row * 4 + dot / 2);
                if (filled[static_cast<size_t>(column) * 2 + static_cast<size_t>(dot % 2)] >= from_below) {
                    letter |= kDots[static_cast<size_t>(dot / 2)][static_cast<size_t>(dot % 2)];
                }
            }
            if (letter != 0x2800) {
                canvas.fill(area.row + row, area.column + column, 1, letter, look);
            }
        }
    }
}

void draw_series(const Series& series, const Span& span, Canvas& canvas, const Area& area) {
    std::string title = series.title + " ";
    if (series.now) {
        title += view::format_bytes(*series.now);
        title += series.capacity ? fmt::format(" / {} ({})", view::format_bytes(*series.capacity),
                                               view::format_percent(*series.now, series.capacity))
                                 : "";
    } else {
        title += "not known";
    }
    canvas.put(area.row, area.column, title, Look::title, area.columns);
    const Area plot{area.row + 1, area.column + kAxis, area.rows - 1, area.columns - kAxis};
    if (plot.rows < 1 || plot.columns < 4 || series.track == nullptr) {
        return;
    }
    const auto values =
        series.track->columns(span.from_ns, span.to_ns, static_cast<size_t>(plot.columns) * 2);
    double highest = 0;
    for (const auto& value : values) {
        highest = std::max(highest, value.value_or(0));
    }
    const double top = top_of(series, highest);
    canvas.put_right(plot.row, plot.column - 1, view::format_bytes(static_cast<uint64_t>(top)), Look::dim);
    canvas.put_right(plot.end_row() - 1, plot.column - 1, "0 B", Look::dim);
    for (int row = plot.row; row < plot.end_row(); ++row) {
        canvas.fill(row, plot.column - 1, 1, U'│', Look::dim);
    }
    const Look look = series.now ? look_of(tone_of(*series.now, series.capacity)) : Look::bar;
    draw_dots(values, top, look == Look::plain ? Look::bar : look, canvas, plot);
}

struct Sign {
    char32_t letter;
    Look look;
    const char* meaning;
};
Sign sign_of(Moment::What what) {
    switch (what) {
        case Moment::What::start:
            return {U'▲', Look::good, "process started"};
        case Moment::What::death:
            return {U'✗', Look::bad, "process died"};
        case Moment::What::failure:
            return {U'!', Look::bad, "failure"};
        case Moment::What::gap:
            return {U'≈', Look::warn, "gap"};
    }
    return {U'?', Look::plain, ""};
}

// Below the charts: what happened when, and the times.
void draw_axis(const Model& model, const Span& span, Canvas& canvas, int row, const Area& area) {
    const int left = area.column + kAxis;
    const int width = area.columns - kAxis;
    if (width < 4) {
        return;
    }
    canvas.fill(row, left, width, U'─', Look::dim);
    // In the order of importance: what is less important does not hide what is more.
    for (const Moment::What what :
         {Moment::What::start, Moment::What::gap, Moment::What::death, Moment::What::failure}) {
        for (const Moment& moment : model.moments()) {
            if (moment.what == what && moment.time_ns >= span.from_ns && moment.time_ns <= span.to_ns) {
                const double share = static_cast<double>(moment.time_ns - span.from_ns) /
                                     static_cast<double>(std::max<uint64_t>(span.to_ns - span.from_ns, 1));
                const Sign sign = sign_of(what);
                canvas.fill(row, left + std::min(static_cast<int>(share * width), width - 1), 1, sign.letter,
                            sign.look);
            }
        }
    }
    const uint64_t length = span.to_ns - span.from_ns;
    canvas.put(row + 1, left, "-" + view::format_age(length), Look::dim);
    canvas.put(row + 1, left + width / 2 - 2, "-" + view::format_age(length / 2), Look::dim);
    canvas.put_right(row + 1, left + width, "now", Look::dim);
}

void draw_legend(Canvas& canvas, int row, const Area& area) {
    int column = area.column + kAxis;
    for (const Moment::What what :
         {Moment::What::start, Moment::What::death, Moment::What::failure, Moment::What::gap}) {
        const Sign sign = sign_of(what);
        canvas.fill(row, column, 1, sign.letter, sign.look);
        column = canvas.put(row, column + 2, sign.meaning, Look::dim) + 3;
    }
}

void draw_device(const Model& model, const Ui& ui, const DeviceFigures& device, bool with_legend,
                 Canvas& canvas, const Area& area) {
    canvas.box(area.row, area.column, {area.rows, area.columns}, title_of(device));
    const Area inner{area.row + 1, area.column + 1, area.rows - 2, area.columns - 2};
    const int foot = with_legend ? 3 : 2;
    const int each = (inner.rows - foot) / 2;
    if (each < 2) {
        return;
    }
    const auto found = model.tracks().find(device.id);
    const DeviceTracks* tracks = found == model.tracks().end() ? nullptr : &found->second;
    const census::MemoryFigures& dram = device.memory[index_of(Kind::dram)];
    const census::WorstCore& l1 = device.l1_worst_core;
    const Span span = span_of(model, ui);
    draw_series(
        {"DRAM", tracks == nullptr ? nullptr : &tracks->dram, dram.is_known ? dram.capacity : std::nullopt,
         dram.is_known ? std::optional(dram.used) : std::nullopt},
        span, canvas, {inner.row, inner.column, inner.rows - foot - each, inner.columns});
    draw_series({"L1 core", tracks == nullptr ? nullptr : &tracks->l1_core,
                 l1.used ? l1.capacity : std::nullopt, l1.used},
                span, canvas, {inner.end_row() - foot - each, inner.column, each, inner.columns});
    draw_axis(model, span, canvas, inner.end_row() - foot, inner);
    if (with_legend) {
        draw_legend(canvas, inner.end_row() - 1, inner);
    }
}

}  // namespace

void draw_charts(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return put_note(canvas, area, "There are no devices here yet.");
    }
    if (!ui.all_devices || model.status()->figures.devices.size() == 1) {
        return draw_device(model, ui, *device, true, canvas, area);
    }
    // As many as fit, from the chosen one on.
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
    const int height = area.rows / down;
    for (int i = 0; i < std::min(across * down, count); ++i) {
        const size_t at = (first + static_cast<size_t>(i)) % devices.size();
        draw_device(model, ui, devices[at], false, canvas,
                    {area.row + i / across * height, area.column + i % across * width, height, width});
    }
}

}  // namespace ttmem::tui
