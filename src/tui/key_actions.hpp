// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the keys do. Each action changes the user's choices (Ui) and nothing else; it returns what the application has to do
// beyond that. Which key runs which action is in tui/key_bindings.cpp.

#include "tui/key.hpp"
#include "tui/screens.hpp"

namespace ttmem::tui {

// What the application does after a key, because it needs the system: signals, files, clocks, threads.
enum class AppRequest : uint8_t { none, quit, save_settings, send_signal, change_interval, set_mark, play };

struct KeyPress {
    Key key = Key::none;
    const Model& model;
    Ui& ui;
    Size size;     // of the terminal
    int row = -1;  // of the mouse
    int column = -1;
};

using KeyAction = AppRequest (*)(const KeyPress& press);

// On every screen.
AppRequest open_numbered_screen(const KeyPress& press);
AppRequest click(const KeyPress& press);
AppRequest select_next_device(const KeyPress& press);
AppRequest select_previous_device(const KeyPress& press);
AppRequest toggle_all_devices(const KeyPress& press);
AppRequest lengthen_interval(const KeyPress& press);
AppRequest shorten_interval(const KeyPress& press);
AppRequest request_save(const KeyPress& press);
AppRequest toggle_help(const KeyPress& press);
AppRequest scroll_help(const KeyPress& press);
AppRequest go_back(const KeyPress& press);
AppRequest request_quit(const KeyPress& press);

// In every list.
AppRequest move_selection(const KeyPress& press);
AppRequest open_selected(const KeyPress& press);
AppRequest reverse_order(const KeyPress& press);
AppRequest edit_filter(const KeyPress& press);

// Overview.
AppRequest next_process_order(const KeyPress& press);
AppRequest choose_signal(const KeyPress& press);

// Breakdown, charts, telemetry.
AppRequest select_adjacent_device(const KeyPress& press);
AppRequest toggle_all_sections(const KeyPress& press);
AppRequest shorten_chart(const KeyPress& press);
AppRequest lengthen_chart(const KeyPress& press);
AppRequest change_chart_scale(const KeyPress& press);

// Allocations.
AppRequest next_group(const KeyPress& press);
AppRequest show_list(const KeyPress& press);
AppRequest next_list_order(const KeyPress& press);
AppRequest toggle_tree(const KeyPress& press);
AppRequest toggle_scope(const KeyPress& press);
AppRequest next_growth(const KeyPress& press);
AppRequest request_mark(const KeyPress& press);
AppRequest clear_mark(const KeyPress& press);

// Map.
AppRequest move_map_cursor(const KeyPress& press);
AppRequest zoom_map_in(const KeyPress& press);
AppRequest zoom_map_out(const KeyPress& press);
AppRequest next_pool(const KeyPress& press);

// Events.
AppRequest toggle_pause(const KeyPress& press);

// Failures.
AppRequest toggle_post_mortems(const KeyPress& press);

// In a recording (tui/playback_actions.cpp).
AppRequest toggle_playing(const KeyPress& press);
AppRequest play_slower(const KeyPress& press);
AppRequest play_faster(const KeyPress& press);
AppRequest step_forward(const KeyPress& press);
AppRequest step_back(const KeyPress& press);
AppRequest skip_forward(const KeyPress& press);
AppRequest skip_back(const KeyPress& press);
AppRequest go_to_beginning(const KeyPress& press);
AppRequest go_to_end(const KeyPress& press);
AppRequest go_to_peak(const KeyPress& press);
AppRequest go_to_failure(const KeyPress& press);
AppRequest go_to_mark(const KeyPress& press);
// The moment under the mouse.
AppRequest go_to_share(const KeyPress& press, uint32_t share);

}  // namespace ttmem::tui
