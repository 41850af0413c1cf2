// SPDX-License-Identifier: Apache-2.0
#include "tui/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "view/format.hpp"

namespace ttmem::tui {

view::Style style_for(const Canvas& canvas, const Area& area) {
    view::Style style;
    style.width = static_cast<size_t>(std::max(area.columns, 1));
    style.colour = true;
    style.utf8 = canvas.glyphs() == Glyphs::utf8;
    return style;
}

view::Tone tone_of(uint64_t part, std::optional<uint64_t> whole) {
    if (!whole || *whole == 0) {
        return view::Tone::plain;
    }
    const auto share = static_cast<double>(part) / static_cast<double>(*whole);
    return share >= 0.9 ? view::Tone::bad : share >= 0.7 ? view::Tone::warn : view::Tone::good;
}

Look look_of(view::Tone tone) {
    switch (tone) {
        case view::Tone::plain:
            return Look::plain;
        case view::Tone::title:
            return Look::title;
        case view::Tone::good:
            return Look::good;
        case view::Tone::warn:
            return Look::warn;
        case view::Tone::bad:
            return Look::bad;
    }
    return Look::plain;
}

view::Cell gauge(uint64_t part, std::optional<uint64_t> whole, size_t bar_width) {
    const std::string percent = view::format_percent(part, whole);
    const std::string bar = view::format_bar(part, whole, bar_width);
    return view::Cell(bar.empty() ? percent : fmt::format("{} {:>4}", bar, percent), tone_of(part, whole));
}

int put_text(Canvas& canvas, const Area& area, const std::string& text, size_t from) {
    const std::vector<std::string> lines = split_lines(text);
    for (int i = 0; i < area.rows && from + static_cast<size_t>(i) < lines.size(); ++i) {
        canvas.put(area.row + i, area.column, lines[from + static_cast<size_t>(i)], Look::plain,
                   area.columns);
    }
    return static_cast<int>(lines.size());
}

void put_table(Canvas& canvas, const Area& area, const std::string& text, size_t scroll,
               std::optional<size_t> chosen) {
    const std::vector<std::string> lines = split_lines(text);
    if (lines.empty() || area.rows < 1) {
        return;
    }
    canvas.put(area.row, area.column, lines[0], Look::title, area.columns);
    canvas.paint(area.row, area.column, area.columns, Look::title);
    for (int i = 1; i < area.rows && scroll + static_cast<size_t>(i) < lines.size(); ++i) {
        const size_t line = scroll + static_cast<size_t>(i);
        canvas.put(area.row + i, area.column, lines[line], Look::plain, area.columns);
        if (chosen && line == *chosen + 1) {
            canvas.paint(area.row + i, area.column, area.columns, Look::selected);
        }
    }
}

size_t scroll_to(size_t chosen, size_t rows, size_t count) {
    if (rows == 0 || count <= rows) {
        return 0;
    }
    const size_t half = rows / 2;
    return std::min(chosen > half ? chosen - half : 0, count - rows);
}

void put_note(Canvas& canvas, const Area& area, const std::string& text) {
    const std::vector<std::string> lines = split_lines(text);
    int row = area.row + std::max((area.rows - static_cast<int>(lines.size())) / 3, 0);
    for (const std::string& line : lines) {
        if (row >= area.end_row()) {
            return;
        }
        const auto width = static_cast<int>(view::display_width(line));
        canvas.put(row++, area.column + std::max((area.columns - width) / 2, 0), line, Look::dim,
                   area.columns);
    }
}

std::string title_of(const census::DeviceFigures& device) {
    std::string about;
    for (const auto& word : {device.board, device.arch}) {
        about += word ? (about.empty() ? "" : ", ") + *word : "";
    }
    return fmt::format("Device {}{}", device.id, about.empty() ? "" : " (" + about + ")");
}

std::string sparkline(const Track& track, uint64_t from_ns, uint64_t to_ns, size_t width) {
    constexpr std::array<const char*, 8> kSteps = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto columns = track.columns(from_ns, to_ns, width);
    std::optional<double> lowest;
    std::optional<double> highest;
    for (const auto& value : columns) {
        if (value) {
            lowest = std::min(lowest.value_or(*value), *value);
            highest = std::max(highest.value_or(*value), *value);
        }
    }
    std::string text;
    for (const auto& value : columns) {
        if (!value) {
            text += " ";
            continue;
        }
        const double span = *highest - *lowest;
        const double share = span <= 0 ? 0 : (*value - *lowest) / span;
        text += kSteps[std::min(static_cast<size_t>(share * 8), size_t{7})];
    }
    return text;
}

}  // namespace ttmem::tui
