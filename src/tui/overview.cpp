// SPDX-License-Identifier: Apache-2.0

// One row per device, charts of the chosen one, and the processes. A Galaxy, or more devices than there is room for, are a mesh
// with one cell per device, in the shape that a process describes.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tui/lists.hpp"
#include "tui/screens.hpp"
#include "view/model/devices.hpp"
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

constexpr int kMinRowsOfProcesses = 7;  // two titles and a few processes
constexpr int kLeastRowsOfCharts = 4;   // a title, two rows, the time
constexpr int kMostRowsOfCharts = 16;
constexpr int kLeastDevicesOfAMesh = 32;

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
            if (!layout.has_headroom) {
                style.left_out->push_back("headroom");
            }
            return table;
        }
    }
    style.left_out->push_back("headroom");
    return device_table(view, DeviceTableLayout{0, false, 1}, style);
}

struct MeshLayout {
    std::vector<const DeviceFigures*> devices;  // row by row
    std::string_view order = "devices by number";
    int across = 1;
    int width = 0;  // of a cell
    int lines = 1;  // of a cell
    int rows = 0;   // of cells that there is room for
    int all_rows = 0;

    int height() const { return 1 + rows * lines; }
};

// The columns of devices that no process describes as a mesh; 0: unknown.
int usual_columns(const std::vector<DeviceFigures>& devices) {
    const bool is_galaxy =
        devices.size() == 32 && devices.front().board.value_or("").find("galaxy") != std::string::npos;
    return !is_galaxy ? 0 : devices.front().arch == "blackhole" ? 8 : 4;
}

// Devices without a known shape fill the width.
MeshLayout mesh_layout(const view::View& view, int room, int columns) {
    constexpr int kWidthOfALine = 20;  // "17 [██░] 45% L1  12%"
    constexpr int kLeastWidth = 10;    // "17 ▒▒ 45%", and L1 below
    const auto& devices = view.figures.devices;
    const auto count = static_cast<int>(devices.size());
    MeshLayout layout;
    int wanted = usual_columns(devices);
    const census::MeshFigures* const mesh = view::mesh_of_all_devices(view);
    if (mesh != nullptr) {
        wanted = static_cast<int>(mesh->columns);
        for (const uint32_t id : mesh->devices) {
            layout.devices.push_back(view::device_with_id(view, id));
        }
    } else {
        for (const DeviceFigures& device : devices) {
            layout.devices.push_back(&device);
        }
    }
    wanted = wanted != 0 ? wanted : columns / kWidthOfALine;
    layout.across = std::clamp(wanted, 1, std::max(columns / kLeastWidth, 1));
    if (mesh != nullptr) {
        layout.order = layout.across == wanted ? "mesh" : "devices in the order of the mesh";
    }
    layout.width = std::min(columns / layout.across, 40);
    layout.lines = layout.width < kWidthOfALine ? 2 : 1;
    layout.all_rows = (count + layout.across - 1) / layout.across;
    layout.rows = std::clamp((room - 1) / layout.lines, 0, layout.all_rows);
    return layout;
}

void draw_cell(const DeviceFigures& device, bool is_selected, const MeshLayout& layout, Canvas& canvas,
               int row, int column) {
    const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
    const std::string percent = !dram.is_known  ? "?"
                                : dram.capacity ? view::format_percent(dram.used, dram.capacity)
                                                : view::format_bytes(dram.used);
    const CellStyle style = style_of(view::tone_of(dram.used, dram.is_known ? dram.capacity : std::nullopt));
    const view::Line l1 = view::l1_gauge(device, 0);
    canvas.put(row, column, fmt::format("{:>2}", device.id),
               is_selected ? CellStyle::selected : CellStyle::plain);
    const bool has_share = dram.is_known && dram.capacity.value_or(0) != 0;
    if (layout.lines == 2) {
        const int blocks = layout.width - 8;
        if (has_share) {
            canvas.fill(row, column + 3, blocks,
                        heat_character(static_cast<double>(dram.used) / static_cast<double>(*dram.capacity)),
                        style);
        }
        canvas.put_right(row, column + layout.width - 1, percent, style);
        canvas.put(row + 1, column, "L1", CellStyle::dim);
        canvas.put_line(row + 1, column + layout.width - 1 - static_cast<int>(l1.width()), l1);
        return;
    }
    const int bar_width = layout.width - 15;
    if (has_share) {
        canvas.put_line(row, column + 3, view::bar(dram.used, dram.capacity, static_cast<size_t>(bar_width)));
    }
    canvas.put_right(row, column + 3 + bar_width + 4, percent, style);
    canvas.put(row, column + 3 + bar_width + 5, "L1", CellStyle::dim);
    canvas.put_line(row, column + layout.width - 1 - static_cast<int>(l1.width()), l1);
}

void draw_mesh(const DeviceFigures* selected, const MeshLayout& layout, Canvas& canvas, const Area& area) {
    const auto& devices = layout.devices;
    const auto place = std::find(devices.begin(), devices.end(), selected);
    const int chosen = place == devices.end() ? 0 : static_cast<int>(place - devices.begin());
    const auto first_row =
        static_cast<int>(scroll_to(static_cast<size_t>(chosen / layout.across),
                                   static_cast<size_t>(layout.rows), static_cast<size_t>(layout.all_rows)));
    const auto count = static_cast<int>(devices.size());
    const int first = first_row * layout.across;
    const int end = std::min(first + layout.rows * layout.across, count);
    std::string title = fmt::format("{}x{} {}: DRAM, and L1 on the fullest core", layout.all_rows,
                                    layout.across, layout.order);
    if (end - first < count) {
        title += fmt::format(" ({} not shown)", count - (end - first));
    }
    canvas.put(area.row, area.column, title, CellStyle::title, area.columns);
    for (int i = first; i < end; ++i) {
        const DeviceFigures& device = *devices[static_cast<size_t>(i)];
        const int row = area.row + 1 + (i - first) / layout.across * layout.lines;
        const int column = area.column + i % layout.across * layout.width;
        draw_cell(device, &device == selected, layout, canvas, row, column);
        for (int line = 0; line < layout.lines; ++line) {
            canvas.add_hit(row + line, column, layout.width - 1, {CanvasHit::What::device, device.id});
        }
    }
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return result;
}

view::Text process_table(const std::vector<const ProcessFigures*>& processes, const Model& model,
                         const Ui& ui, const view::Style& style) {
    constexpr std::array<Kind, 6> kinds = {Kind::dram,   Kind::l1,       Kind::cb,
                                           Kind::kernel, Kind::l1_small, Kind::trace};
    // The column that the rows are sorted by has an arrow.
    const auto title = [&](std::string_view name) {
        return upper(name) + (name == name_of(ui.order) ? (ui.is_reverse() ? "^" : "v") : "");
    };
    std::vector<Column> columns = {view::pid_column(title("pid")),
                                   {title("user"), kLeft, 0, 5},
                                   {title("command"), kLeft, 0, 10},
                                   {"DEV", kLeft, 0, 5}};
    for (const Kind kind : kinds) {
        const int rank = kind == Kind::dram || kind == Kind::l1 ? 0
                         : kind == Kind::cb                     ? 1
                         : kind == Kind::kernel                 ? 4
                                                                : 5;
        columns.push_back(view::bytes_column(title(census::name_of(kind)),
                                             census::name_of(kind) == name_of(ui.order) ? 0 : rank, style));
    }
    columns.push_back(view::age_column(title("age"), ui.order == ProcessOrder::age ? 0 : 2));
    columns.push_back({"STATE", kLeft, 3, 0, Column::KeptPart::beginning, 9});  // "untracked"
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
            const census::Holding held = holding_of(model, ui, *process, kind);
            row.emplace_back(process->devices.empty() ? "-"
                             : held.is_known          ? view::format_bytes(held.used)
                                                      : "unknown");
        }
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
    const DeviceFigures* device = ui.all_devices ? nullptr : chosen_device(model, ui);
    std::string title = device != nullptr ? fmt::format("Processes on device {}", device->id)
                                          : "Processes, bytes summed over their devices";
    title += ui.filter().empty() ? "" : fmt::format(", those with '{}'", ui.filter());
    canvas.put(area.row, area.column, title, CellStyle::dim, area.columns);
    const std::vector<const ProcessFigures*> processes = listed_processes(model, ui);
    if (processes.empty()) {
        return put_note(canvas, area.below(1),
                        model.status()->figures.processes.empty()
                            ? "No tracked processes. 'ttmem run -- COMMAND' tracks a command."
                            : "No matching process.");
    }
    const Area list = area.below(1);
    put_list(canvas, list, process_table(processes, model, ui, style_for(canvas, list)), processes.size(),
             selected_row(model, ui));
}

}  // namespace

void draw_overview(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const view::View& view = *model.status();
    const DeviceFigures* selected = chosen_device(model, ui);
    if (selected == nullptr) {
        if (view.figures.processes.empty()) {
            return put_note(canvas, area, view::status_text(view, style_for(canvas, area)));
        }
        canvas.put(area.row, area.column, "No process has opened a device yet.", CellStyle::dim,
                   area.columns);
        return draw_processes(model, ui, canvas, area.below(2));
    }
    const auto devices = static_cast<int>(view.figures.devices.size());
    const int wanted_by_processes = 2 + static_cast<int>(std::max<size_t>(view.figures.processes.size(), 1));
    const int process_rows = std::min(kMinRowsOfProcesses, wanted_by_processes);
    int device_rows = devices + 1;
    if (devices < kLeastDevicesOfAMesh && device_rows + process_rows + kLeastRowsOfCharts <= area.rows) {
        put_table(canvas, area, device_table(view, style_for(canvas, area)), 0);
        for (int i = 0; i < devices; ++i) {
            canvas.add_hit(area.row + 1 + i, area.column, area.columns,
                           {CanvasHit::What::device, view.figures.devices[static_cast<size_t>(i)].id});
        }
        canvas.paint(area.row + 1 + static_cast<int>(selected - view.figures.devices.data()), area.column, 3,
                     CellStyle::selected);
    } else {
        const MeshLayout layout =
            mesh_layout(view, area.rows - process_rows - kLeastRowsOfCharts, area.columns);
        draw_mesh(selected, layout, canvas, area);
        device_rows = layout.height();
    }
    // Charts get what the processes leave.
    const int free_rows = area.rows - device_rows - process_rows;
    int chart_rows = 0;
    if (free_rows >= kLeastRowsOfCharts) {
        chart_rows =
            std::min(free_rows, std::clamp(area.rows - device_rows - wanted_by_processes,
                                           std::clamp(area.rows / 6, kLeastRowsOfCharts, kMostRowsOfCharts),
                                           kMostRowsOfCharts));
        draw_charts_of(model, ui, *selected, canvas,
                       {area.row + device_rows, area.column, chart_rows, area.columns});
    }
    draw_processes(model, ui, canvas, area.below(device_rows + chart_rows));
}

}  // namespace ttmem::tui
