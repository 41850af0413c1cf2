// SPDX-License-Identifier: Apache-2.0
#include "tui/key_actions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tui/key_bindings.hpp"

namespace ttmem::tui {

namespace {

constexpr unsigned kMaxMapZoom = 40;
constexpr size_t kMaxScroll = 1000;

void open_screen(Ui& ui, Screen screen) {
    ui.help = false;
    ui.screen = screen;
    ui.scroll = 0;
}

void select_device(const KeyPress& press, bool is_next) {
    const census::DeviceFigures* device = chosen_device(press.model, press.ui);
    if (device == nullptr) {
        return;
    }
    const auto& devices = press.model.status()->figures.devices;
    const auto index = static_cast<size_t>(device - devices.data());
    Ui& ui = press.ui;
    ui.device = devices[(index + (is_next ? 1 : devices.size() - 1)) % devices.size()].id;
    ui.map_cursor = 0;
    ui.map_zoom = 0;
    ui.pool.reset();
    ui.scroll = 0;
}

const census::ProcessFigures* selected_process(const Model& model, const Ui& ui) {
    if (!model.status()) {
        return nullptr;
    }
    const auto& all = model.status()->figures.processes;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const census::ProcessFigures& one) { return one.pid == ui.process; });
    return found == all.end() ? nullptr : &*found;
}

int rows_per_page(const KeyPress& press) { return std::max(body_of(press.size).rows - 3, 1); }

// How many rows a key moves by, downwards.
int step_of(const KeyPress& press) {
    constexpr int kToTheEnd = 1'000'000;
    switch (press.key) {
        case Key::up:
            return -1;
        case Key::down:
            return 1;
        case Key::page_up:
            return -rows_per_page(press);
        case Key::page_down:
            return rows_per_page(press);
        case Key::home:
            return -kToTheEnd;
        case Key::end:
            return kToTheEnd;
        default:
            return 0;
    }
}

size_t moved(size_t from, int step, size_t last) {
    const auto to = static_cast<int64_t>(from) + step;
    return static_cast<size_t>(std::clamp<int64_t>(to, 0, static_cast<int64_t>(last)));
}

AppRequest set_interval(Ui& ui, bool is_longer) {
    const auto* const found = std::lower_bound(kIntervals.begin(), kIntervals.end(), ui.interval_ms);
    const size_t index = std::min(static_cast<size_t>(found - kIntervals.begin()), kIntervals.size() - 1);
    ui.interval_ms = kIntervals[is_longer ? std::min(index + 1, kIntervals.size() - 1)
                                          : index - std::min<size_t>(index, 1)];
    return AppRequest::change_interval;
}

const view::PostMortemListView* visible_post_mortems(const KeyPress& press) {
    const auto* list = press.model.answer<view::PostMortemListView>();
    const bool is_visible = press.ui.post_mortems && !press.ui.open_post_mortem;
    return is_visible && list != nullptr && !list->post_mortems.empty() ? list : nullptr;
}

// The number of rows of the current list of allocations or groups.
size_t row_count(const Model& model) {
    if (const auto* groups = model.answer<view::GroupView>()) {
        return static_cast<size_t>(groups->total);
    }
    if (const auto* list = model.answer<view::AllocationView>()) {
        return static_cast<size_t>(list->total);
    }
    return kMaxScroll;
}

}  // namespace

AppRequest open_numbered_screen(const KeyPress& press) {
    open_screen(press.ui, static_cast<Screen>(static_cast<uint32_t>(press.key) - U'0'));
    return AppRequest::none;
}

AppRequest select_next_device(const KeyPress& press) {
    select_device(press, true);
    return AppRequest::none;
}

AppRequest select_previous_device(const KeyPress& press) {
    select_device(press, false);
    return AppRequest::none;
}

AppRequest toggle_all_devices(const KeyPress& press) {
    press.ui.all_devices = !press.ui.all_devices;
    press.ui.scroll = 0;
    return AppRequest::none;
}

AppRequest lengthen_interval(const KeyPress& press) { return set_interval(press.ui, true); }
AppRequest shorten_interval(const KeyPress& press) { return set_interval(press.ui, false); }
AppRequest request_save(const KeyPress& /*press*/) { return AppRequest::save_settings; }
AppRequest request_quit(const KeyPress& /*press*/) { return AppRequest::quit; }

AppRequest toggle_help(const KeyPress& press) {
    press.ui.help = !press.ui.help;
    press.ui.scroll = 0;
    return AppRequest::none;
}

AppRequest scroll_help(const KeyPress& press) {
    press.ui.scroll = moved(press.ui.scroll, step_of(press), help_lines().size());
    return AppRequest::none;
}

// One step back: closes what was opened last, then clears the filter.
AppRequest go_back(const KeyPress& press) {
    Ui& ui = press.ui;
    if (ui.help) {
        ui.help = false;
    } else if (ui.screen == Screen::failures && ui.open_post_mortem) {
        ui.open_post_mortem.reset();
    } else if (ui.screen == Screen::events) {
        ui.event_filter.clear();
    } else if (ui.screen == Screen::allocations && !ui.filter.empty()) {
        ui.filter.clear();
    } else if (ui.screen == Screen::allocations) {
        ui.pid.reset();
    }
    ui.scroll = 0;
    return AppRequest::none;
}

AppRequest select_process(const KeyPress& press) {
    if (!press.model.status()) {
        return AppRequest::none;
    }
    const auto processes = ordered_processes(press.model, press.ui);
    if (processes.empty()) {
        return AppRequest::none;
    }
    const int step = step_of(press);
    const auto found =
        std::find_if(processes.begin(), processes.end(),
                     [&](const census::ProcessFigures* one) { return one->pid == press.ui.process; });
    const auto last = static_cast<int>(processes.size()) - 1;
    // Without a selection, down begins at the top and up at the bottom.
    const int index =
        found == processes.end() ? (step > 0 ? -1 : last + 1) : static_cast<int>(found - processes.begin());
    press.ui.process = processes[static_cast<size_t>(std::clamp(index + step, 0, last))]->pid;
    return AppRequest::none;
}

AppRequest open_allocations_of_process(const KeyPress& press) {
    Ui& ui = press.ui;
    if (selected_process(press.model, ui) != nullptr) {
        ui.pid = ui.process;
        ui.all_devices = true;
        open_screen(ui, Screen::allocations);
        ui.message = fmt::format("Allocations of process {}. Esc shows all processes.", *ui.pid);
    }
    return AppRequest::none;
}

AppRequest next_process_order(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.order = static_cast<ProcessOrder>((static_cast<size_t>(ui.order) + 1) % kOrders);
    ui.message = fmt::format("Sorted by {}.", name_of(ui.order));
    return AppRequest::none;
}

AppRequest reverse_process_order(const KeyPress& press) {
    press.ui.reverse = !press.ui.reverse;
    return AppRequest::none;
}

// The dialog opens only for a user who may signal the process.
AppRequest choose_signal(const KeyPress& press) {
    Ui& ui = press.ui;
    const census::ProcessFigures* process = selected_process(press.model, ui);
    if (process == nullptr) {
        ui.message = "Select a process first (Up/Down).";
    } else if (geteuid() != 0 && geteuid() != process->uid) {
        ui.message = fmt::format("Process {} belongs to {}: only its owner and root may signal it.",
                                 process->pid, process->user);
    } else {
        ui.signal = SignalChoice{process->pid, process->start_time_ns, process->comm, 0};
    }
    return AppRequest::none;
}

AppRequest select_adjacent_device(const KeyPress& press) {
    select_device(press, press.key == Key::down);
    return AppRequest::none;
}

AppRequest shorten_chart(const KeyPress& press) {
    press.ui.zoom -= std::min<size_t>(press.ui.zoom, 1);
    return AppRequest::none;
}

AppRequest lengthen_chart(const KeyPress& press) {
    press.ui.zoom = std::min(press.ui.zoom + 1, kZooms.size() - 1);
    return AppRequest::none;
}

AppRequest scroll_allocations(const KeyPress& press) {
    const size_t count = row_count(press.model);
    const auto page = static_cast<size_t>(rows_per_page(press));
    const size_t last = std::min(count - std::min(count, page), kMaxScroll);
    press.ui.scroll = moved(press.ui.scroll, step_of(press), last);
    return AppRequest::none;
}

AppRequest edit_allocation_filter(const KeyPress& press) {
    press.ui.prompt = press.ui.filter;
    return AppRequest::none;
}

AppRequest next_group(const KeyPress& press) {
    using census::GroupBy;
    constexpr std::array<GroupBy, 9> kGroups = {GroupBy::name,   GroupBy::scope,  GroupBy::kind,
                                                GroupBy::pid,    GroupBy::device, GroupBy::set,
                                                GroupBy::thread, GroupBy::owner,  GroupBy::age};
    Ui& ui = press.ui;
    const auto* const found = std::find(kGroups.begin(), kGroups.end(), ui.group.value_or(GroupBy::age));
    ui.group = !ui.group || found + 1 == kGroups.end() ? kGroups[0] : *(found + 1);
    ui.scroll = 0;
    return AppRequest::none;
}

AppRequest show_list(const KeyPress& press) {
    press.ui.group.reset();
    press.ui.scroll = 0;
    return AppRequest::none;
}

AppRequest next_list_order(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.group.reset();
    ui.sort = static_cast<census::Sort>((static_cast<int>(ui.sort) + 1) % 5);
    ui.scroll = 0;
    ui.message = fmt::format("Sorted by {}.", census::name_of(ui.sort));
    return AppRequest::none;
}

AppRequest request_mark(const KeyPress& /*press*/) { return AppRequest::set_mark; }

AppRequest clear_mark(const KeyPress& press) {
    press.ui.mark_ns.reset();
    return AppRequest::none;
}

AppRequest move_map_cursor(const KeyPress& press) {
    const MapWindow window = map_window(press.model, press.ui, body_of(press.size));
    if (window.bytes == 0) {
        return AppRequest::none;
    }
    Ui& ui = press.ui;
    const uint64_t last = window.map->bank.size - 1;
    int cells = 0;
    switch (press.key) {
        case Key::home:
            ui.map_cursor = 0;
            return AppRequest::none;
        case Key::end:
            ui.map_cursor = last;
            return AppRequest::none;
        case Key::left:
            cells = -1;
            break;
        case Key::right:
            cells = 1;
            break;
        case Key::up:
            cells = -window.columns;
            break;
        case Key::down:
            cells = window.columns;
            break;
        case Key::page_up:
            cells = -window.columns * window.rows;
            break;
        case Key::page_down:
            cells = window.columns * window.rows;
            break;
        default:
            break;
    }
    const double to = static_cast<double>(ui.map_cursor) + cells * std::max(window.bytes_per_cell(), 1.0);
    ui.map_cursor = static_cast<uint64_t>(std::clamp(to, 0.0, static_cast<double>(last)));
    return AppRequest::none;
}

AppRequest zoom_map_in(const KeyPress& press) {
    press.ui.map_zoom = std::min(press.ui.map_zoom + 1, kMaxMapZoom);
    return AppRequest::none;
}

AppRequest zoom_map_out(const KeyPress& press) {
    press.ui.map_zoom -= std::min(press.ui.map_zoom, 1u);
    return AppRequest::none;
}

AppRequest next_pool(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.pool = map_window(press.model, ui, body_of(press.size)).index + 1;
    ui.map_zoom = 0;
    ui.map_cursor = 0;
    return AppRequest::none;
}

// The newest event is at the bottom, so that scrolling up goes back in time.
AppRequest scroll_events(const KeyPress& press) {
    press.ui.scroll = moved(press.ui.scroll, -step_of(press), press.model.events().size());
    return AppRequest::none;
}

AppRequest toggle_pause(const KeyPress& press) {
    press.ui.paused = !press.ui.paused;
    press.ui.paused_at = press.model.events().empty() ? 0 : press.model.events().back().sequence;
    return AppRequest::none;
}

AppRequest edit_event_filter(const KeyPress& press) {
    press.ui.prompt = press.ui.event_filter;
    return AppRequest::none;
}

AppRequest scroll_failures(const KeyPress& press) {
    Ui& ui = press.ui;
    if (const auto* list = visible_post_mortems(press)) {
        ui.post_mortem = moved(ui.post_mortem, step_of(press), list->post_mortems.size() - 1);
    } else {
        ui.scroll = moved(ui.scroll, step_of(press), kMaxScroll);
    }
    return AppRequest::none;
}

AppRequest toggle_post_mortems(const KeyPress& press) {
    press.ui.post_mortems = !press.ui.post_mortems;
    press.ui.open_post_mortem.reset();
    press.ui.scroll = 0;
    return AppRequest::none;
}

AppRequest open_post_mortem(const KeyPress& press) {
    Ui& ui = press.ui;
    if (const auto* list = press.model.answer<view::PostMortemListView>();
        list != nullptr && ui.post_mortem < list->post_mortems.size()) {
        ui.open_post_mortem = list->post_mortems[ui.post_mortem].process.pid;
        ui.scroll = 0;
    }
    return AppRequest::none;
}

}  // namespace ttmem::tui
