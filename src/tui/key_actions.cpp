// SPDX-License-Identifier: Apache-2.0
#include "tui/key_actions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tui/key_bindings.hpp"
#include "tui/lists.hpp"

namespace ttmem::tui {

namespace {

constexpr unsigned kMaxMapZoom = 40;
constexpr size_t kMaxScroll = 1000;
constexpr size_t kMostSteps = 100;  // that Esc goes back

// Begins at the top of what is shown now.
void go_to_top(Ui& ui) {
    ui.scroll = 0;
    ui.cursor = {};
}

void reset_map(Ui& ui) {
    ui.map_cursor.reset();
    ui.map_zoom = 0;
    ui.pool.reset();
    ui.target.reset();
}

// Remembers where the user is, and opens a screen. Esc comes back.
void enter(Ui& ui, Screen screen) {
    ui.back.push_back(ui);
    if (ui.back.size() > kMostSteps) {
        ui.back.erase(ui.back.begin());
    }
    ui.screen = screen;
    go_to_top(ui);
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
    reset_map(ui);
    go_to_top(ui);
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

int rows_per_page(const KeyPress& press) { return std::max(body_of(press.size, press.model).rows - 3, 1); }

// How many rows a key moves by, downwards.
int step_of(const KeyPress& press) {
    constexpr int kToTheEnd = 1'000'000;
    constexpr int kRowsOfWheel = 3;
    switch (press.key) {
        case Key::up:
            return -1;
        case Key::down:
            return 1;
        case Key::wheel_up:
            return -kRowsOfWheel;
        case Key::wheel_down:
            return kRowsOfWheel;
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

void open_device(Ui& ui, uint32_t device) {
    enter(ui, Screen::overview);
    ui.device = device;
    ui.all_devices = false;
    ui.process.reset();
    ui.message = fmt::format("Processes on device {}. Esc goes back.", device);
}

void open_process(Ui& ui, uint32_t pid) {
    enter(ui, Screen::allocations);
    ui.pid = pid;
    ui.growth = ShownGrowth::none;
    ui.group = census::GroupBy::name;
    ui.filter().clear();
    ui.message = fmt::format("Allocations of process {}. Esc goes back.", pid);
}

// The allocations of a name that grew.
void open_newest(Ui& ui, const std::string& name, census::Kind kind) {
    enter(ui, Screen::allocations);
    ui.growth = ShownGrowth::none;
    ui.group.reset();
    ui.kind = kind;
    ui.filter() = name;
    ui.sort = census::Sort::age;
    ui.reverse[static_cast<size_t>(Screen::allocations)] = true;
    ui.message = "The newest first.";
}

void open_group(Ui& ui, const census::Group& group) {
    const census::GroupBy by = ui.group.value_or(census::GroupBy::name);
    enter(ui, Screen::allocations);
    ui.group.reset();
    switch (by) {
        case census::GroupBy::name:
            ui.filter() = group.key;
            break;
        case census::GroupBy::scope:
            ui.filter() = group.key;
            ui.group = census::GroupBy::name;
            break;
        case census::GroupBy::kind:
            ui.kind = group.kind;
            ui.group = census::GroupBy::name;
            break;
        case census::GroupBy::device:
            ui.device = group.device;
            ui.all_devices = false;
            ui.group = census::GroupBy::name;
            break;
        case census::GroupBy::age:
            ui.sort = census::Sort::age;
            break;
        case census::GroupBy::pid:
            ui.group = census::GroupBy::name;
            [[fallthrough]];
        case census::GroupBy::set:
        case census::GroupBy::thread:
        case census::GroupBy::owner:
            ui.pid = group.pid;
            break;
    }
}

// Opens the map of the device with the cursor on the block.
void open_place(Ui& ui, uint32_t device, const MapTarget& target) {
    enter(ui, Screen::map);
    reset_map(ui);
    ui.device = device;
    ui.target = target;
}

// The device that the user looks at, if the allocation is on it.
uint32_t device_of(const Model& model, const Ui& ui, const std::vector<uint32_t>& devices) {
    const census::DeviceFigures* chosen = chosen_device(model, ui);
    const bool has_chosen =
        chosen != nullptr && std::find(devices.begin(), devices.end(), chosen->id) != devices.end();
    return has_chosen ? chosen->id : devices.front();
}

void open_allocation(const Model& model, Ui& ui, const census::LiveAllocation& live) {
    if (live.devices.empty() || !live.address) {
        ui.message = "This allocation has no address.";
        return;
    }
    open_place(ui, device_of(model, ui, live.devices), {live.pid, live.kind, live.set, *live.address});
}

void open_event(const Model& model, Ui& ui, const view::EventView& event) {
    if (event.devices.empty() || !event.address || !event.kind) {
        return open_process(ui, event.pid);
    }
    open_place(ui, device_of(model, ui, event.devices), {event.pid, *event.kind, {}, *event.address});
}

// The card of a failure, else the names that now hold the memory which the failed allocation needed.
void open_failure(const Model& model, Ui& ui, const census::FailureFigures& failure) {
    if (failure.card) {
        ui.back.push_back(ui);
        const auto kept = listed_kept(model, ui);
        const bool is_kept = std::any_of(
            kept.begin(), kept.end(), [&](const view::KeptCard* card) { return &card->failure == &failure; });
        ui.open_card = UiLocation::OpenCard{failure.pid, failure.card->number,
                                            is_kept ? std::optional(failure.time_ns) : std::nullopt};
        ui.scroll = 0;
        return;
    }
    enter(ui, Screen::allocations);
    ui.pid.reset();
    ui.growth = ShownGrowth::none;
    ui.kind = failure.kind;
    ui.group = census::GroupBy::name;
    ui.filter().clear();
    ui.all_devices = failure.devices.empty();
    if (!failure.devices.empty()) {
        ui.device = device_of(model, ui, failure.devices);
    }
}

// A screen by its number: nothing of what was opened before holds there.
void begin_at(Ui& ui, Screen screen) {
    if (!ui.back.empty()) {
        const std::optional<uint32_t> device = ui.device;
        static_cast<UiLocation&>(ui) = UiLocation(ui.back.front());
        ui.device = device;
        ui.back.clear();
    }
    ui.help = false;
    ui.screen = screen;
    go_to_top(ui);
}

}  // namespace

AppRequest open_numbered_screen(const KeyPress& press) {
    begin_at(press.ui, static_cast<Screen>(static_cast<uint32_t>(press.key) - U'0'));
    return AppRequest::none;
}

// What is selected already opens.
AppRequest click(const KeyPress& press) {
    const Model& model = press.model;
    Ui& ui = press.ui;
    const Canvas canvas = draw(model, ui, press.size, Glyphs::utf8);
    const auto hit = canvas.hit_at(press.row, press.column);
    if (!hit) {
        return AppRequest::none;
    }
    switch (hit->what) {
        case CanvasHit::What::screen:
            begin_at(ui, static_cast<Screen>(hit->number));
            break;
        case CanvasHit::What::device: {
            const census::DeviceFigures* chosen = chosen_device(model, ui);
            const bool is_open = chosen != nullptr && chosen->id == hit->number && !ui.process && ui.device;
            ui.process.reset();
            ui.device = hit->number;
            return is_open ? open_selected(press) : AppRequest::none;
        }
        case CanvasHit::What::row:
            if (selected_row(model, ui) == hit->number) {
                return open_selected(press);
            }
            select_row(model, ui, hit->number);
            break;
        case CanvasHit::What::moment:
            return go_to_share(press, hit->number);
    }
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
    go_to_top(press.ui);
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

// One step back: closes the help, clears the search, returns to where Enter was pressed.
AppRequest go_back(const KeyPress& press) {
    Ui& ui = press.ui;
    if (ui.help) {
        ui.help = false;
        ui.scroll = 0;
    } else if (!ui.back.empty()) {
        const UiLocation before = std::move(ui.back.back());
        ui.back.pop_back();
        static_cast<UiLocation&>(ui) = before;
    } else if (!ui.filter().empty()) {
        ui.filter().clear();
        go_to_top(ui);
    } else if (ui.screen == Screen::overview && ui.process) {
        ui.process.reset();
    } else if (ui.screen == Screen::overview) {
        ui.all_devices = true;
    } else {
        go_to_top(ui);
    }
    return AppRequest::none;
}

AppRequest move_selection(const KeyPress& press) {
    const Model& model = press.model;
    Ui& ui = press.ui;
    const size_t count = row_count(model, ui);
    if (ui.has_open_text() && ui.screen == Screen::failures) {
        ui.scroll = moved(ui.scroll, step_of(press), kMaxScroll);
    }
    if (count == 0) {
        return AppRequest::none;
    }
    const int step = step_of(press);
    const auto selected = selected_row(model, ui);
    const bool leaves = !selected || (step > 0 ? *selected + static_cast<size_t>(step) >= count
                                               : *selected < static_cast<size_t>(-step));
    if (ui.screen == Screen::events && leaves && (step > 0) != ui.is_reverse()) {
        ui.cursor = {};  // follow the newest
        return AppRequest::none;
    }
    // Below the last failure the text goes on.
    const bool is_text = ui.screen == Screen::failures && !ui.post_mortems;
    if (is_text && ((step > 0 && selected == count - 1) || (step < 0 && ui.scroll > 0))) {
        ui.scroll = moved(ui.scroll, step, kMaxScroll);
        return AppRequest::none;
    }
    // Without a selection, down begins at the top and up at the bottom.
    const auto last = static_cast<int64_t>(count) - 1;
    const int64_t from = selected ? static_cast<int64_t>(*selected) : step > 0 ? -1 : last + 1;
    select_row(model, ui, static_cast<size_t>(std::clamp<int64_t>(from + step, 0, last)));
    return AppRequest::none;
}

AppRequest open_selected(const KeyPress& press) {
    const Model& model = press.model;
    Ui& ui = press.ui;
    const auto row = selected_row(model, ui);
    const census::DeviceFigures* device = chosen_device(model, ui);
    switch (ui.screen) {
        case Screen::overview:
            if (row) {
                open_process(ui, listed_processes(model, ui)[*row]->pid);
            } else if (device != nullptr) {
                open_device(ui, device->id);
            }
            break;
        case Screen::breakdown:
        case Screen::charts:
        case Screen::telemetry:
            if (device != nullptr) {
                open_device(ui, device->id);
            }
            break;
        case Screen::allocations:
            if (ui.growth == ShownGrowth::last_minute && row) {
                const view::NameGrowth name = *listed_growth(model, ui)[*row];
                open_newest(ui, name.name, name.kind);
            } else if (ui.growth == ShownGrowth::at_marks && row) {
                const view::NameLeak leak = *listed_leaks(model, ui)[*row];
                open_newest(ui, leak.name, leak.kind);
                ui.pid = leak.pid;
            } else if (const auto scopes = listed_scopes(model, ui); row && *row < scopes.size()) {
                enter(ui, Screen::allocations);
                ui.filter() = scopes[*row].path;
                ui.tree = false;
                if (!scopes[*row].has_children) {
                    ui.group.reset();
                }
            } else if (const auto* groups = model.answer<view::GroupView>();
                       ui.group && row && groups != nullptr && *row < groups->groups.size()) {
                open_group(ui, census::Group(groups->groups[*row]));
            } else if (const auto* list = model.answer<view::AllocationView>();
                       !ui.group && row && list != nullptr && *row < list->allocations.size()) {
                open_allocation(model, ui, list->allocations[*row]);
            }
            break;
        case Screen::map:
            if (const census::MapBlock* block = block_at_cursor(model, ui, body_of(press.size, press.model));
                block != nullptr && !block->is_free) {
                const uint32_t pid = map_window(model, ui, body_of(press.size, press.model)).map->pid;
                open_process(ui, pid);
                ui.group.reset();
                ui.filter() = block->name.value_or("");
            }
            break;
        case Screen::events:
            if (row) {
                open_event(model, ui, *listed_events(model, ui)[*row]);
            }
            break;
        case Screen::failures:
            if (row && ui.post_mortems) {
                const uint32_t pid = listed_post_mortems(model, ui)[*row].newest->process.pid;
                ui.back.push_back(ui);
                ui.open_post_mortem = pid;
                ui.scroll = 0;
            } else if (row) {
                open_failure(model, ui, *listed_failures(model, ui)[*row]);
            }
            break;
    }
    return AppRequest::none;
}

AppRequest next_process_order(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.order = static_cast<ProcessOrder>((static_cast<size_t>(ui.order) + 1) % kOrders);
    ui.message = fmt::format("Sorted by {}.", name_of(ui.order));
    return AppRequest::none;
}

AppRequest reverse_order(const KeyPress& press) {
    Ui& ui = press.ui;
    bool& reverse = ui.reverse[static_cast<size_t>(ui.screen)];
    reverse = !reverse;
    go_to_top(ui);
    return AppRequest::none;
}

AppRequest edit_filter(const KeyPress& press) {
    press.ui.prompt = press.ui.filter();
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
    select_device(press, press.key == Key::down || press.key == Key::right);
    return AppRequest::none;
}

AppRequest toggle_all_sections(const KeyPress& press) {
    press.ui.all_sections = !press.ui.all_sections;
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

AppRequest change_chart_scale(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.scale = ui.scale == ChartScale::capacity ? ChartScale::values : ChartScale::capacity;
    return AppRequest::none;
}

AppRequest next_group(const KeyPress& press) {
    using census::GroupBy;
    constexpr std::array<GroupBy, 9> kGroups = {GroupBy::name,   GroupBy::scope,  GroupBy::kind,
                                                GroupBy::pid,    GroupBy::device, GroupBy::set,
                                                GroupBy::thread, GroupBy::owner,  GroupBy::age};
    Ui& ui = press.ui;
    const auto* const found = std::find(kGroups.begin(), kGroups.end(), ui.group.value_or(GroupBy::age));
    ui.growth = ShownGrowth::none;
    ui.group = !ui.group || found + 1 == kGroups.end() ? kGroups[0] : *(found + 1);
    go_to_top(ui);
    return AppRequest::none;
}

AppRequest show_list(const KeyPress& press) {
    press.ui.growth = ShownGrowth::none;
    press.ui.group.reset();
    go_to_top(press.ui);
    return AppRequest::none;
}

AppRequest next_list_order(const KeyPress& press) {
    Ui& ui = press.ui;
    do {
        ui.sort = static_cast<census::Sort>((static_cast<int>(ui.sort) + 1) % 5);
    } while (ui.group && ui.sort == census::Sort::address);  // groups have none
    go_to_top(ui);
    ui.message = fmt::format("Sorted by {}.", census::name_of(ui.sort));
    return AppRequest::none;
}

AppRequest toggle_tree(const KeyPress& press) {
    Ui& ui = press.ui;
    ui.tree = !ui.tree || ui.growth != ShownGrowth::none || ui.group != census::GroupBy::name;
    ui.growth = ShownGrowth::none;
    ui.group = census::GroupBy::name;
    go_to_top(ui);
    return AppRequest::none;
}

AppRequest toggle_scope(const KeyPress& press) {
    const auto scopes = listed_scopes(press.model, press.ui);
    const auto row = selected_row(press.model, press.ui);
    if (row && *row < scopes.size() && scopes[*row].has_children &&
        press.ui.closed_scopes.erase(scopes[*row].path) == 0) {
        press.ui.closed_scopes.insert(scopes[*row].path);
    }
    return AppRequest::none;
}

AppRequest next_growth(const KeyPress& press) {
    press.ui.growth = static_cast<ShownGrowth>((static_cast<int>(press.ui.growth) + 1) % 3);
    go_to_top(press.ui);
    return AppRequest::none;
}

AppRequest request_mark(const KeyPress& /*press*/) { return AppRequest::set_mark; }

AppRequest clear_mark(const KeyPress& press) {
    press.ui.mark_ns.reset();
    return AppRequest::none;
}

AppRequest move_map_cursor(const KeyPress& press) {
    const MapWindow window = map_window(press.model, press.ui, body_of(press.size, press.model));
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
    const double to = static_cast<double>(window.cursor) + cells * std::max(window.bytes_per_cell(), 1.0);
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
    ui.pool = map_window(press.model, ui, body_of(press.size, press.model)).index + 1;
    ui.target.reset();
    ui.map_zoom = 0;
    ui.map_cursor.reset();
    return AppRequest::none;
}

AppRequest toggle_pause(const KeyPress& press) {
    press.ui.paused = !press.ui.paused;
    press.ui.paused_at = press.model.events().empty() ? 0 : press.model.events().back().sequence;
    return AppRequest::none;
}

AppRequest toggle_post_mortems(const KeyPress& press) {
    press.ui.post_mortems = !press.ui.post_mortems;
    press.ui.open_post_mortem.reset();
    press.ui.open_card.reset();
    go_to_top(press.ui);
    return AppRequest::none;
}

}  // namespace ttmem::tui
