// SPDX-License-Identifier: Apache-2.0

// One row per device, and the processes below. If there are too many devices for rows, they form a grid.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/cells.hpp"
#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;
using census::ProcessFigures;
using view::Column;
using view::kLeft;
using view::kRight;
using view::Tone;

constexpr int kMinRowsOfProcesses = 7;  // a blank line, the titles and a few processes

bool has_telemetry(const view::View& view) {
    return std::any_of(view.figures.devices.begin(), view.figures.devices.end(),
                       [](const DeviceFigures& device) {
                           const census::Telemetry& telemetry = device.telemetry;
                           return telemetry.temperature_c || telemetry.power_w || telemetry.aiclk_mhz;
                       });
}

struct DeviceTableLayout {
    size_t bar_width;
    bool has_headroom;
    size_t gap;
};

view::Text device_table(const view::View& view, const DeviceTableLayout& layout, const view::Style& style) {
    std::vector<Column> columns = {
        {"DEV"}, {"BOARD", kLeft, 0, 5}, {"DRAM USED / CAP"}, {"", kLeft}, {"FULLEST CORE", kLeft}};
    const bool with_telemetry = has_telemetry(view);
    if (layout.has_headroom) {
        columns.push_back({"HEADROOM"});
    }
    if (with_telemetry) {
        columns.insert(columns.end(), {{"TEMP"}, {"POWER"}, {"MHz"}});
    }
    columns.push_back({"PROC"});
    for (Column& column : columns) {
        column.gap = layout.gap;
    }
    view::Table table(columns);
    for (const DeviceFigures& device : view.figures.devices) {
        std::vector<view::Line> row = {std::to_string(device.id), device.board.value_or("-"),
                                       view::dram_text(device), view::dram_gauge(device, layout.bar_width),
                                       view::l1_gauge(device, layout.bar_width)};
        if (layout.has_headroom) {
            row.push_back(view::headroom_cell(device.l1_worst_core));
        }
        if (with_telemetry) {
            const census::Telemetry& telemetry = device.telemetry;
            row.push_back(
                view::limited_value_cell(telemetry.temperature_c, telemetry.temperature_max_c, "C"));
            row.push_back(view::limited_value_cell(telemetry.power_w, telemetry.power_max_w, "W"));
            row.emplace_back(telemetry.aiclk_mhz ? std::to_string(*telemetry.aiclk_mhz) : "-");
        }
        row.emplace_back(std::to_string(view::holder_count(view, device.id)));
        table.add(std::move(row));
    }
    return table.text(style);
}

// With as much as fits: long bars, wide gaps, the headroom.
view::Text device_table(const view::View& view, const view::Style& style) {
    for (const DeviceTableLayout& layout :
         {DeviceTableLayout{40, true, 3}, DeviceTableLayout{30, true, 3}, DeviceTableLayout{20, true, 2},
          DeviceTableLayout{14, true, 2}, DeviceTableLayout{10, true, 2}, DeviceTableLayout{10, false, 2},
          DeviceTableLayout{8, false, 2}, DeviceTableLayout{8, false, 1}}) {
        view::Text table = device_table(view, layout, style);
        if (table.lines().front().width() <= style.width) {
            return table;
        }
    }
    return device_table(view, DeviceTableLayout{0, false, 1}, style);
}

// "12 [####....]  45% L1  53%", in several columns. Returns the number of rows it takes.
int draw_grid(const view::View& view, const DeviceFigures* selected, Canvas& canvas, const Area& area) {
    constexpr int kMinCellWidth = 26;
    constexpr int kWidthBesideBar = 18;
    const auto count = static_cast<int>(view.figures.devices.size());
    const int max_across = std::max(area.columns / kMinCellWidth, 1);
    int across = 1;
    while (across < max_across && (count + across - 1) / across > area.rows / 2) {
        ++across;
    }
    const int width = area.columns / across;
    const int rows = (count + across - 1) / across;
    canvas.put(area.row, area.column, "DEVICES: DRAM, and L1 on the fullest core", CellStyle::title);
    for (int i = 0; i < count; ++i) {
        const DeviceFigures& device = view.figures.devices[static_cast<size_t>(i)];
        const int row = area.row + 1 + i % rows;
        const int column = area.column + i / rows * width;
        if (row >= area.end_row()) {
            continue;
        }
        const int bar_width = std::min(width - kWidthBesideBar, 40);
        canvas.put(row, column, fmt::format("{:>2}", device.id));
        const view::Line gauge = view::dram_gauge(device, static_cast<size_t>(std::max(bar_width, 3)));
        const int end = column + 3 + std::max(bar_width, 3) + 5;
        // Without a known capacity the gauge has no bar, and its text stands where the percentage would.
        canvas.put_line(row, end - static_cast<int>(gauge.width()), gauge);
        const int after = canvas.put(row, end, " L1 ", CellStyle::dim);
        const view::Line l1 = view::l1_gauge(device, 0);
        canvas.put_line(row, after + std::max(4 - static_cast<int>(l1.width()), 0), l1);
        if (&device == selected) {
            canvas.paint(row, column, 2, CellStyle::selected);
        }
    }
    return rows + 1;
}

// Summed over the devices of the process.
census::Holding sum_of(const ProcessFigures& process, Kind kind) {
    census::Holding sum;
    for (const census::DeviceHoldings& held : process.devices) {
        const census::Holding& one = held.memory[index_of(kind)];
        sum.used += one.used;
        sum.is_known = sum.is_known && one.is_known;
    }
    return sum;
}

uint64_t used_of(const ProcessFigures& process) {
    uint64_t used = 0;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        used += sum_of(process, static_cast<Kind>(kind)).used;
    }
    return used;
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return result;
}

view::Text process_table(const std::vector<const ProcessFigures*>& processes, const Model& model,
                         const Ui& ui, const view::Style& style) {
    constexpr std::array<Kind, 6> kKinds = {Kind::dram,   Kind::l1,       Kind::cb,
                                            Kind::kernel, Kind::l1_small, Kind::trace};
    std::vector<Kind> kinds;
    for (const Kind kind : kKinds) {
        const bool is_used =
            std::any_of(processes.begin(), processes.end(),
                        [&](const ProcessFigures* process) { return sum_of(*process, kind).used != 0; });
        if (is_used || kind == Kind::dram || kind == Kind::l1) {
            kinds.push_back(kind);
        }
    }
    // The column that the rows are sorted by has an arrow.
    const auto title = [&](std::string_view name) {
        return upper(name) + (name == name_of(ui.order) ? (ui.reverse ? "^" : "v") : "");
    };
    std::vector<Column> columns = {
        {title("pid")}, {title("user"), kLeft, 0, 5}, {title("command"), kLeft, 0, 10}, {"DEV", kLeft, 0, 5}};
    for (const Kind kind : kinds) {
        const int rank = kind == Kind::dram || kind == Kind::l1     ? 0
                         : kind == Kind::cb || kind == Kind::kernel ? 1
                                                                    : 5;
        columns.push_back({title(census::name_of(kind)), kRight, rank});
    }
    columns.push_back({title("used"), kRight, 4});
    columns.push_back({title("age"), kRight, 2});
    columns.push_back({"STATE", kLeft, 3});
    columns.push_back({"EVENTS/S", kRight, 8});
    columns.push_back({"SOURCE", kLeft, 7});
    view::Table table(columns);
    for (const ProcessFigures* process : processes) {
        std::vector<uint32_t> ids;
        for (const census::DeviceHoldings& held : process->devices) {
            ids.push_back(held.id);
        }
        std::vector<view::Line> row = {std::to_string(process->pid), process->user, process->comm,
                                       view::format_ids(ids)};
        for (const Kind kind : kinds) {
            const census::Holding held = sum_of(*process, kind);
            row.emplace_back(process->devices.empty() ? "-"
                             : held.is_known          ? view::format_bytes(held.used)
                                                      : "unknown");
        }
        row.emplace_back(view::format_bytes(used_of(*process)));
        row.emplace_back(view::format_age(model.now_ns() - std::min(model.now_ns(), process->start_time_ns)));
        row.emplace_back(std::string(name_of(process->state)),
                         process->state == census::ProcessState::live ? Tone::plain : Tone::warn);
        row.emplace_back(process->events_per_second ? std::to_string(*process->events_per_second) : "-");
        row.emplace_back(std::string(name_of(process->source)));
        table.add(std::move(row));
    }
    return table.text(style);
}

void draw_processes(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const std::vector<const ProcessFigures*> processes = ordered_processes(model, ui);
    if (processes.empty()) {
        return put_note(
            canvas, area,
            "No tracked processes. Start a process with TT_ALLOC_TRACKING_ENABLED=1 to track it.");
    }
    const auto found = std::find_if(processes.begin(), processes.end(), [&](const ProcessFigures* process) {
        return process->pid == ui.process;
    });
    const auto selected =
        found == processes.end() ? std::nullopt : std::optional<size_t>(found - processes.begin());
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    put_table(canvas, area, process_table(processes, model, ui, style_for(canvas, area)),
              scroll_to(selected.value_or(0), rows, processes.size()), selected);
}

}  // namespace

std::vector<const ProcessFigures*> ordered_processes(const Model& model, const Ui& ui) {
    std::vector<const ProcessFigures*> processes;
    for (const ProcessFigures& process : model.status()->figures.processes) {
        processes.push_back(&process);
    }
    const auto before = [&](const ProcessFigures* a, const ProcessFigures* b) {
        switch (ui.order) {
            case ProcessOrder::used:
                return used_of(*a) > used_of(*b);
            case ProcessOrder::pid:
                return a->pid < b->pid;
            case ProcessOrder::dram:
                return sum_of(*a, Kind::dram).used > sum_of(*b, Kind::dram).used;
            case ProcessOrder::l1:
                return sum_of(*a, Kind::l1).used > sum_of(*b, Kind::l1).used;
            case ProcessOrder::cb:
                return sum_of(*a, Kind::cb).used > sum_of(*b, Kind::cb).used;
            case ProcessOrder::age:
                return a->start_time_ns < b->start_time_ns;
            case ProcessOrder::user:
                return a->user < b->user;
            case ProcessOrder::command:
                return a->comm < b->comm;
        }
        return false;
    };
    std::stable_sort(processes.begin(), processes.end(), before);
    if (ui.reverse) {
        std::reverse(processes.begin(), processes.end());
    }
    return processes;
}

void draw_overview(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const view::View& view = *model.status();
    const DeviceFigures* selected = chosen_device(model, ui);
    if (view.figures.devices.empty()) {
        if (view.figures.processes.empty()) {
            return put_note(canvas, area, view::status_text(view, style_for(canvas, area)));
        }
        canvas.put(area.row, area.column, "No process has opened a device yet.", CellStyle::dim,
                   area.columns);
        return draw_processes(model, ui, canvas, area.below(2));
    }
    const auto devices = static_cast<int>(view.figures.devices.size());
    const int process_rows = std::min(
        kMinRowsOfProcesses, 2 + static_cast<int>(std::max<size_t>(view.figures.processes.size(), 1)));
    int device_rows = devices + 1;
    if (device_rows + process_rows <= area.rows) {
        put_table(canvas, area, device_table(view, style_for(canvas, area)), 0);
        if (selected != nullptr) {
            canvas.paint(area.row + 1 + static_cast<int>(selected - view.figures.devices.data()), area.column,
                         3, CellStyle::selected);
        }
    } else {
        device_rows = draw_grid(view, selected, canvas, area);
    }
    draw_processes(model, ui, canvas, area.below(device_rows + 1));
}

}  // namespace ttmem::tui
