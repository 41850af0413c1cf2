// SPDX-License-Identifier: Apache-2.0

// One row a device, and below the processes. Where there are too many devices for that, they stand in a grid.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/format.hpp"
#include "view/text.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;
using census::ProcessFigures;
using view::Cell;
using view::Column;
using view::kLeft;
using view::kRight;
using view::Tone;

constexpr int kLeastForProcesses = 7;  // blank line, title and a few

std::string used_text(const MemoryFigures& memory) {
    return memory.is_known ? view::format_bytes(memory.used) : "unknown";
}

uint64_t holders_of(const view::View& view, uint32_t device) {
    return static_cast<uint64_t>(std::count_if(
        view.figures.processes.begin(), view.figures.processes.end(), [&](const ProcessFigures& process) {
            return std::any_of(process.devices.begin(), process.devices.end(),
                               [&](const census::HeldOnDevice& held) { return held.id == device; });
        }));
}

Cell whole(std::optional<double> value, std::optional<double> most, const char* unit) {
    return value ? Cell(fmt::format("{:.0f} {}", *value, unit),
                        most && *value >= *most ? Tone::bad : Tone::plain)
                 : Cell("-");
}

bool has_telemetry(const view::View& view) {
    return std::any_of(view.figures.devices.begin(), view.figures.devices.end(),
                       [](const DeviceFigures& device) {
                           const census::Telemetry& told = device.telemetry;
                           return told.temperature_c || told.power_w || told.aiclk_mhz;
                       });
}

std::string device_table(const view::View& view, size_t bar_width, bool with_headroom, size_t gap,
                         const view::Style& style) {
    std::vector<Column> columns = {
        {"DEV"}, {"BOARD", kLeft, 0, 5}, {"DRAM USED / CAP"}, {"", kLeft}, {"L1 CORE", kLeft}};
    const bool with_telemetry = has_telemetry(view);
    if (with_headroom) {
        columns.push_back({"HEADROOM"});
    }
    if (with_telemetry) {
        columns.insert(columns.end(), {{"TEMP"}, {"POWER"}, {"MHz"}});
    }
    columns.push_back({"PROC"});
    for (Column& column : columns) {
        column.gap = gap;
    }
    view::Table table(columns);
    for (const DeviceFigures& device : view.figures.devices) {
        const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
        const census::WorstCore& l1 = device.l1_worst_core;
        std::vector<Cell> row = {
            std::to_string(device.id), device.board.value_or("-"),
            used_text(dram) + " / " + (dram.capacity ? view::format_bytes(*dram.capacity) : "unknown"),
            gauge(dram.used, dram.is_known ? dram.capacity : std::nullopt, bar_width),
            gauge(l1.used.value_or(0), l1.used ? l1.capacity : std::nullopt, bar_width)};
        if (with_headroom) {
            row.emplace_back(l1.headroom ? Cell(view::format_signed_bytes(*l1.headroom),
                                                *l1.headroom < 0 ? Tone::bad : Tone::plain)
                                         : Cell("unknown"));
        }
        if (with_telemetry) {
            const census::Telemetry& told = device.telemetry;
            row.push_back(whole(told.temperature_c, told.temperature_max_c, "C"));
            row.push_back(whole(told.power_w, told.power_max_w, "W"));
            row.emplace_back(told.aiclk_mhz ? std::to_string(*told.aiclk_mhz) : "-");
        }
        row.emplace_back(std::to_string(holders_of(view, device.id)));
        table.add(std::move(row));
    }
    return table.text(style);
}

// With as much as fits: long bars, wide gaps, the headroom.
std::string device_table(const view::View& view, const view::Style& style) {
    struct Way {
        size_t bar;
        bool headroom;
        size_t gap;
    };
    view::Style plain = style;
    plain.colour = false;
    for (const Way& way :
         {Way{40, true, 3}, Way{30, true, 3}, Way{20, true, 2}, Way{14, true, 2}, Way{10, true, 2},
          Way{10, false, 2}, Way{8, false, 2}, Way{8, false, 1}, Way{0, false, 1}}) {
        const std::string text = device_table(view, way.bar, way.headroom, way.gap, plain);
        if (view::display_width(std::string_view(text).substr(0, text.find('\n'))) <= style.width ||
            way.bar == 0) {
            return device_table(view, way.bar, way.headroom, way.gap, style);
        }
    }
    return "";
}

// "12 [####....]  45% L1  53%", side by side.
int draw_grid(const view::View& view, const DeviceFigures* chosen, Canvas& canvas, const Area& area) {
    constexpr int kLeastCell = 26;
    constexpr int kBesideBar = 18;
    const auto count = static_cast<int>(view.figures.devices.size());
    const int most = std::max(area.columns / kLeastCell, 1);
    int across = 1;
    while (across < most && (count + across - 1) / across > area.rows / 2) {
        ++across;
    }
    const int width = area.columns / across;
    const int rows = (count + across - 1) / across;
    canvas.put(area.row, area.column, "DEVICES: DRAM, then the L1 core that is fullest", Look::title);
    for (int i = 0; i < count; ++i) {
        const DeviceFigures& device = view.figures.devices[static_cast<size_t>(i)];
        const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
        const census::WorstCore& l1 = device.l1_worst_core;
        const int row = area.row + 1 + i % rows;
        const int column = area.column + i / rows * width;
        if (row >= area.end_row()) {
            continue;
        }
        const auto capacity = dram.is_known ? dram.capacity : std::nullopt;
        const auto l1_capacity = l1.used ? l1.capacity : std::nullopt;
        const int bar = std::min(width - kBesideBar, 40);
        int at = canvas.put(row, column, fmt::format("{:>2} ", device.id), Look::plain);
        at = canvas.put(row, at, view::format_bar(dram.used, capacity, static_cast<size_t>(std::max(bar, 3))),
                        look_of(tone_of(dram.used, capacity)));
        at = canvas.put(row, std::max(at, column + 3 + bar),
                        fmt::format(" {:>4}", view::format_percent(dram.used, capacity)),
                        look_of(tone_of(dram.used, capacity)));
        at = canvas.put(row, at, " L1 ", Look::dim);
        canvas.put(row, at, fmt::format("{:>4}", view::format_percent(l1.used.value_or(0), l1_capacity)),
                   look_of(tone_of(l1.used.value_or(0), l1_capacity)));
        if (&device == chosen) {
            canvas.paint(row, column, 2, Look::selected);
        }
    }
    return rows + 1;
}

// Of one kind, on all its devices.
census::Held sum_of(const ProcessFigures& process, Kind kind) {
    census::Held sum;
    for (const census::HeldOnDevice& held : process.devices) {
        const census::Held& one = held.memory[index_of(kind)];
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

std::string process_table(const std::vector<const ProcessFigures*>& processes, const Model& model,
                          const Ui& ui, const view::Style& style) {
    constexpr std::array<Kind, 6> kKinds = {Kind::dram,   Kind::l1,       Kind::cb,
                                            Kind::kernel, Kind::l1_small, Kind::trace};
    std::vector<Kind> kinds;
    for (const Kind kind : kKinds) {
        const bool anyone =
            std::any_of(processes.begin(), processes.end(),
                        [&](const ProcessFigures* process) { return sum_of(*process, kind).used != 0; });
        if (anyone || kind == Kind::dram || kind == Kind::l1) {
            kinds.push_back(kind);
        }
    }
    // The column that the order comes from is marked.
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
        for (const census::HeldOnDevice& held : process->devices) {
            ids.push_back(held.id);
        }
        std::vector<Cell> row = {std::to_string(process->pid), process->user, process->comm,
                                 view::format_ids(ids)};
        for (const Kind kind : kinds) {
            const census::Held held = sum_of(*process, kind);
            row.emplace_back(process->devices.empty() ? "-"
                             : held.is_known          ? view::format_bytes(held.used)
                                                      : "unknown");
        }
        row.emplace_back(view::format_bytes(used_of(*process)));
        row.emplace_back(view::format_age(model.now_ns() - std::min(model.now_ns(), process->start_time_ns)));
        row.emplace_back(process->state, process->state == "live" ? Tone::plain : Tone::warn);
        row.emplace_back(process->events_per_second ? std::to_string(*process->events_per_second) : "-");
        row.emplace_back(process->source);
        table.add(std::move(row));
    }
    return table.text(style);
}

void draw_processes(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const std::vector<const ProcessFigures*> processes = ordered_processes(model, ui);
    if (processes.empty()) {
        return put_note(canvas, area,
                        "No process is tracked. One is if it starts with TT_ALLOC_TRACKING_ENABLED=1.");
    }
    const auto found = std::find_if(processes.begin(), processes.end(), [&](const ProcessFigures* process) {
        return process->pid == ui.process;
    });
    const auto chosen =
        found == processes.end() ? std::nullopt : std::optional<size_t>(found - processes.begin());
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    put_table(canvas, area, process_table(processes, model, ui, style_for(canvas, area)),
              scroll_to(chosen.value_or(0), rows, processes.size()), chosen);
}

}  // namespace

std::vector<const ProcessFigures*> ordered_processes(const Model& model, const Ui& ui) {
    std::vector<const ProcessFigures*> processes;
    for (const ProcessFigures& process : model.status()->figures.processes) {
        processes.push_back(&process);
    }
    const auto before = [&](const ProcessFigures* a, const ProcessFigures* b) {
        switch (ui.order) {
            case Order::used:
                return used_of(*a) > used_of(*b);
            case Order::pid:
                return a->pid < b->pid;
            case Order::dram:
                return sum_of(*a, Kind::dram).used > sum_of(*b, Kind::dram).used;
            case Order::l1:
                return sum_of(*a, Kind::l1).used > sum_of(*b, Kind::l1).used;
            case Order::cb:
                return sum_of(*a, Kind::cb).used > sum_of(*b, Kind::cb).used;
            case Order::age:
                return a->start_time_ns < b->start_time_ns;
            case Order::user:
                return a->user < b->user;
            case Order::command:
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
    const DeviceFigures* chosen = chosen_device(model, ui);
    if (view.figures.devices.empty()) {
        if (view.figures.processes.empty()) {
            view::Style style = style_for(canvas, area);
            style.colour = false;
            return put_note(canvas, area, view::status_text(view, style));
        }
        canvas.put(area.row, area.column, "No process has opened a device yet.", Look::dim, area.columns);
        return draw_processes(model, ui, canvas, area.below(2));
    }
    const auto devices = static_cast<int>(view.figures.devices.size());
    const int for_processes = std::min(
        kLeastForProcesses, 2 + static_cast<int>(std::max<size_t>(view.figures.processes.size(), 1)));
    int taken = devices + 1;
    if (taken + for_processes <= area.rows) {
        put_table(canvas, area, device_table(view, style_for(canvas, area)), 0);
        if (chosen != nullptr) {
            canvas.paint(area.row + 1 + static_cast<int>(chosen - view.figures.devices.data()), area.column,
                         3, Look::selected);
        }
    } else {
        taken = draw_grid(view, chosen, canvas, area);
    }
    draw_processes(model, ui, canvas, area.below(taken + 1));
}

}  // namespace ttmem::tui
