// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace ttmem::tui {

namespace {

constexpr size_t kLongestFilter = 200;
constexpr unsigned kMostMapZoom = 40;

void open_screen(Ui& ui, Screen screen) {
    ui.help = false;
    ui.screen = screen;
    ui.scroll = 0;
}

void choose_device(const Model& model, Ui& ui, bool is_next) {
    const census::DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return;
    }
    const auto& devices = model.status()->figures.devices;
    const auto at = static_cast<size_t>(device - devices.data());
    ui.device = devices[(at + (is_next ? 1 : devices.size() - 1)) % devices.size()].id;
    ui.map_cursor = 0;
    ui.map_zoom = 0;
    ui.pool.reset();
    ui.scroll = 0;
}

void choose_process(const Model& model, Ui& ui, int step) {
    const auto processes = ordered_processes(model, ui);
    if (processes.empty()) {
        return;
    }
    const auto found =
        std::find_if(processes.begin(), processes.end(),
                     [&](const census::ProcessFigures* one) { return one->pid == ui.process; });
    const auto last = static_cast<int>(processes.size()) - 1;
    const int at =
        found == processes.end() ? (step > 0 ? -1 : last + 1) : static_cast<int>(found - processes.begin());
    ui.process = processes[static_cast<size_t>(std::clamp(at + step, 0, last))]->pid;
}

const census::ProcessFigures* chosen_process(const Model& model, const Ui& ui) {
    const auto& all = model.status()->figures.processes;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const census::ProcessFigures& one) { return one.pid == ui.process; });
    return found == all.end() ? nullptr : &*found;
}

// How far a key moves; 0: it is none of those.
int step_of(int key, int page) {
    switch (key) {
        case kKeyUp:
            return -1;
        case kKeyDown:
            return 1;
        case kKeyPageUp:
            return -page;
        case kKeyPageDown:
            return page;
        case kKeyHome:
            return -1'000'000;
        case kKeyEnd:
            return 1'000'000;
        default:
            return 0;
    }
}

void scroll(Ui& ui, int step, size_t most) {
    const auto at = static_cast<int64_t>(ui.scroll) + step;
    ui.scroll = static_cast<size_t>(std::clamp<int64_t>(at, 0, static_cast<int64_t>(most)));
}

void move_in_map(int key, const Model& model, Ui& ui, const Area& area) {
    const MapWindow window = map_window(model, ui, area);
    if (window.bytes == 0) {
        return;
    }
    const int letters = key == kKeyLeft       ? -1
                        : key == kKeyRight    ? 1
                        : key == kKeyUp       ? -window.columns
                        : key == kKeyDown     ? window.columns
                        : key == kKeyPageUp   ? -window.columns * window.rows
                        : key == kKeyPageDown ? window.columns * window.rows
                                              : 0;
    if (key == kKeyHome || key == kKeyEnd) {
        ui.map_cursor = key == kKeyHome ? 0 : window.map->bank.size - 1;
        return;
    }
    const double to = static_cast<double>(ui.map_cursor) + letters * std::max(window.letter(), 1.0);
    ui.map_cursor =
        static_cast<uint64_t>(std::clamp(to, 0.0, static_cast<double>(window.map->bank.size - 1)));
}

// The most that it makes sense to scroll.
size_t lines_of(const Model& model) {
    if (const auto* groups = model.answer<view::GroupView>()) {
        return static_cast<size_t>(groups->total);
    }
    if (const auto* list = model.answer<view::AllocationView>()) {
        return static_cast<size_t>(list->total);
    }
    return 1000;
}

void move(int key, const Model& model, Ui& ui, Size size) {
    const Area area = body_of(size);
    const int page = std::max(area.rows - 3, 1);
    const int step = step_of(key, page);
    if (ui.help) {
        return scroll(ui, step, 40);
    }
    switch (ui.screen) {
        case Screen::overview:
            return choose_process(model, ui, step);
        case Screen::map:
            return move_in_map(key, model, ui, area);
        case Screen::events:  // the newest is below: up is back
            return scroll(ui, -step, model.events().size());
        case Screen::failures:
            if (const auto* list = model.answer<view::PostMortemListView>();
                ui.post_mortems && !ui.open_post_mortem && list != nullptr && !list->post_mortems.empty()) {
                ui.post_mortem = static_cast<size_t>(
                    std::clamp<int64_t>(static_cast<int64_t>(ui.post_mortem) + step, 0,
                                        static_cast<int64_t>(list->post_mortems.size()) - 1));
                return;
            }
            return scroll(ui, step, lines_of(model));
        case Screen::breakdown:
        case Screen::charts:
        case Screen::telemetry:
            if (key == kKeyUp || key == kKeyDown) {
                choose_device(model, ui, key == kKeyDown);
            }
            return;
        case Screen::allocations: {
            const size_t lines = lines_of(model);
            const auto rows = static_cast<size_t>(page);
            return scroll(ui, step, std::min<size_t>(lines > rows ? lines - rows : 0, 1000));
        }
    }
}

void zoom(Ui& ui, bool is_closer) {
    if (ui.screen == Screen::charts) {
        ui.zoom =
            is_closer ? ui.zoom - std::min<size_t>(ui.zoom, 1) : std::min(ui.zoom + 1, kZooms.size() - 1);
    } else if (ui.screen == Screen::map) {
        ui.map_zoom =
            is_closer ? std::min(ui.map_zoom + 1, kMostMapZoom) : ui.map_zoom - std::min(ui.map_zoom, 1u);
    }
}

void next_order(Ui& ui) {
    if (ui.screen == Screen::allocations) {
        ui.group.reset();
        ui.sort = static_cast<census::Sort>((static_cast<int>(ui.sort) + 1) % 5);
        ui.scroll = 0;
        ui.message = fmt::format("By {}.", census::name_of(ui.sort));
        return;
    }
    ui.order = static_cast<Order>((static_cast<size_t>(ui.order) + 1) % kOrders);
    ui.message = fmt::format("By {}.", name_of(ui.order));
}

void next_group(Ui& ui) {
    using census::GroupBy;
    constexpr std::array<GroupBy, 9> kGroups = {GroupBy::name,   GroupBy::scope,  GroupBy::kind,
                                                GroupBy::pid,    GroupBy::device, GroupBy::set,
                                                GroupBy::thread, GroupBy::owner,  GroupBy::age};
    const auto* const at = std::find(kGroups.begin(), kGroups.end(), ui.group.value_or(GroupBy::age));
    ui.group = !ui.group || at + 1 == kGroups.end() ? kGroups[0] : *(at + 1);
    ui.scroll = 0;
}

Wish change_interval(Ui& ui, bool is_longer) {
    const auto* const at = std::lower_bound(kIntervals.begin(), kIntervals.end(), ui.interval_ms);
    const size_t index = std::min(static_cast<size_t>(at - kIntervals.begin()), kIntervals.size() - 1);
    ui.interval_ms = kIntervals[is_longer ? std::min(index + 1, kIntervals.size() - 1)
                                          : index - std::min<size_t>(index, 1)];
    return Wish::new_interval;
}

// Only who may signal a process is asked whether he wants to.
void choose_signal(const Model& model, Ui& ui) {
    const census::ProcessFigures* process = chosen_process(model, ui);
    if (process == nullptr) {
        ui.message = "Choose a process first, with the arrows.";
    } else if (geteuid() != 0 && geteuid() != process->uid) {
        ui.message = fmt::format("Process {} belongs to {}: only its owner and root may signal it.",
                                 process->pid, process->user);
    } else {
        ui.signal = SignalChoice{process->pid, process->start_time_ns, process->comm, 0};
    }
}

Wish press_in_signal(int key, Ui& ui) {
    if (key == kKeyUp || key == kKeyDown) {
        const size_t step = key == kKeyDown ? 1 : kSignals.size() - 1;
        ui.signal->signal = (ui.signal->signal + step) % kSignals.size();
        return Wish::none;
    }
    if (key == 'y' || key == 'Y') {
        return Wish::send_signal;
    }
    ui.signal.reset();
    return Wish::none;
}

void take_filter(Ui& ui, std::string text) {
    (ui.screen == Screen::events ? ui.event_filter : ui.filter) = std::move(text);
    ui.scroll = 0;
}

// The last letter goes, however many bytes it has.
void erase_letter(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) {
        text.pop_back();
    }
    if (!text.empty()) {
        text.pop_back();
    }
}

void press_in_prompt(int key, Ui& ui) {
    if (key == kKeyEnter) {
        take_filter(ui, *ui.prompt);
        ui.prompt.reset();
    } else if (key == kKeyEscape) {
        ui.prompt.reset();
    } else if (key == kKeyBackspace || key == '\b') {
        erase_letter(*ui.prompt);
    } else if (key >= ' ' && key < kKeyUp && ui.prompt->size() < kLongestFilter) {
        *ui.prompt += encode(static_cast<char32_t>(key));
    }
}

void open_chosen(const Model& model, Ui& ui) {
    if (ui.screen == Screen::overview && chosen_process(model, ui) != nullptr) {
        ui.pid = ui.process;
        ui.all_devices = true;
        open_screen(ui, Screen::allocations);
        ui.message = fmt::format("Allocations of process {}; Esc shows those of all.", *ui.pid);
    } else if (const auto* list = model.answer<view::PostMortemListView>();
               ui.screen == Screen::failures && list != nullptr &&
               ui.post_mortem < list->post_mortems.size()) {
        ui.open_post_mortem = list->post_mortems[ui.post_mortem].process.pid;
        ui.scroll = 0;
    }
}

// One step back: what was opened last, then what was filtered.
void go_back(Ui& ui) {
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
}

void pause_events(const Model& model, Ui& ui) {
    ui.paused = !ui.paused;
    ui.paused_at = model.events().empty() ? 0 : model.events().back().sequence;
}

Wish press_letter(int key, const Model& model, Ui& ui, Size size) {
    switch (key) {
        case 'q':
        case kKeyF10:
            return Wish::quit;
        case '?':
        case 'h':
        case kKeyF1:
            ui.help = !ui.help;
            ui.scroll = 0;
            return Wish::none;
        case kKeyEscape:
            go_back(ui);
            return Wish::none;
        case kKeyTab:
        case 'd':
            choose_device(model, ui, true);
            return Wish::none;
        case kKeyBackTab:
        case 'D':
            choose_device(model, ui, false);
            return Wish::none;
        case 'a':
            ui.all_devices = !ui.all_devices;
            ui.scroll = 0;
            return Wish::none;
        case '+':
        case '=':
            return change_interval(ui, true);
        case '-':
            return change_interval(ui, false);
        case kKeyF6:
        case 's':
            next_order(ui);
            return Wish::none;
        case 'r':
            ui.reverse = !ui.reverse;
            return Wish::none;
        case kKeyF9:
        case 'k':
            if (ui.screen == Screen::overview && model.status()) {
                choose_signal(model, ui);
            }
            return Wish::none;
        case kKeyF12:
            return Wish::save_settings;
        case 'z':
        case 'Z':
            zoom(ui, key == 'z');
            return Wish::none;
        case '/':
            if (ui.screen == Screen::allocations || ui.screen == Screen::events) {
                ui.prompt = ui.screen == Screen::events ? ui.event_filter : ui.filter;
            } else {
                ui.message = "Allocations (4) and events (6) have a filter.";
            }
            return Wish::none;
        case kKeyEnter:
            if (model.status()) {
                open_chosen(model, ui);
            }
            return Wish::none;
        default:
            break;
    }
    if (key >= '0' && key < '0' + static_cast<int>(kScreens)) {
        open_screen(ui, static_cast<Screen>(key - '0'));
        return Wish::none;
    }
    if (ui.screen == Screen::allocations && (key == 'g' || key == 'G')) {
        key == 'g' ? next_group(ui) : ui.group.reset();
        ui.scroll = 0;
    } else if (ui.screen == Screen::allocations && key == 'm') {
        return Wish::set_mark;
    } else if (ui.screen == Screen::allocations && key == 'M') {
        ui.mark_ns.reset();
    } else if (ui.screen == Screen::map && key == 'n') {
        ui.pool = map_window(model, ui, body_of(size)).index + 1;
        ui.map_zoom = 0;
        ui.map_cursor = 0;
    } else if (ui.screen == Screen::events && key == ' ') {
        pause_events(model, ui);
    } else if (ui.screen == Screen::failures && key == 'p') {
        ui.post_mortems = !ui.post_mortems;
        ui.open_post_mortem.reset();
        ui.scroll = 0;
    }
    return Wish::none;
}

}  // namespace

Wish press(int key, const Model& model, Ui& ui, Size size) {
    ui.message.clear();
    if (ui.prompt) {
        press_in_prompt(key, ui);
        return Wish::none;
    }
    if (ui.signal) {
        return press_in_signal(key, ui);
    }
    const bool moves = key >= kKeyUp && key <= kKeyEnd;
    if (moves) {
        if (model.status()) {
            move(key, model, ui, size);
        }
        return Wish::none;
    }
    return press_letter(key, model, ui, size);
}

}  // namespace ttmem::tui
