// SPDX-License-Identifier: Apache-2.0
#include "tui/key_bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ttmem::tui {

namespace {

constexpr Key key(char character) { return key_of(static_cast<unsigned char>(character)); }

std::vector<KeyBinding> make_bindings() {
    constexpr ScreenSet kAll = ScreenSet::all();
    constexpr ScreenSet kLists = {Screen::overview, Screen::telemetry, Screen::allocations, Screen::events,
                                  Screen::failures};
    constexpr ScreenSet kWithoutScopes = {Screen::overview,  Screen::breakdown, Screen::charts,
                                          Screen::telemetry, Screen::map,       Screen::events,
                                          Screen::failures};
    const std::vector<Key> vertical = {Key::up, Key::down, Key::page_up, Key::page_down, Key::home, Key::end};
    std::vector<Key> screen_numbers;
    for (size_t i = 0; i < kScreens; ++i) {
        screen_numbers.push_back(key_of(static_cast<char32_t>(U'0' + i)));
    }
    // clang-format off
    return {
        {screen_numbers, kAll, open_numbered_screen, "", "open a screen"},
        {{Key::enter}, kAll, open_selected, "open", "open: device, process, name, allocation, map"},
        {{Key::click}, kAll, click, "", "select; what is selected opens"},
        {{Key::escape, Key::backspace, Key::backspace_control}, kAll, go_back, "", "back: one step, or clear the search"},
        {{key('d'), Key::tab}, kAll, select_next_device, "next device", "next device"},
        {{key('D'), Key::back_tab}, kAll, select_previous_device, "", "previous device"},
        {{key('+'), key('=')}, kAll, lengthen_interval, "slower", "slower: longer interval (up to 10 s)"},
        {{key('-')}, kAll, shorten_interval, "faster", "faster: shorter interval (down to 250 ms)"},
        {{Key::f12}, kAll, request_save, "", "save screen, interval, sort order and grouping"},
        {{key('?'), key('h'), Key::f1}, kAll, toggle_help, "help", "show or hide this help"},
        {{key('q'), Key::f10}, kAll, request_quit, "quit", "quit"},

        {vertical, kLists, move_selection, "", "select a row"},
        {{Key::wheel_up, Key::wheel_down}, kLists, move_selection, "", "move the selection by three rows"},
        {{key('/')}, kLists, edit_filter, "search", "search (Enter applies, Esc cancels)"},
        {{key('r')}, kLists, reverse_order, "", "reverse the order"},

        {{Key::left, Key::right}, {Screen::overview}, select_adjacent_device, "device", "previous, next device"},
        {{Key::f6, key('s')}, {Screen::overview}, next_process_order, "sort", "next sort order"},
        {{Key::f9, key('k')}, {Screen::overview}, choose_signal, "signal", "signal the selected process (asks first)", KeySource::host},

        {{Key::up, Key::down}, {Screen::breakdown, Screen::charts}, select_adjacent_device, "", "previous, next device"},

        {{key('a')}, {Screen::breakdown}, toggle_all_sections, "all/one", "the sections of all devices, or of one"},

        {{key('a')}, {Screen::overview, Screen::charts, Screen::allocations, Screen::failures}, toggle_all_devices,
         "all/one", "all devices or one"},

        {{key('z')}, {Screen::overview, Screen::charts}, shorten_chart, "", "zoom in: shorter time span"},
        {{key('Z')}, {Screen::overview, Screen::charts}, lengthen_chart, "", "zoom out: longer time span (up to an hour)"},
        {{key('c')}, {Screen::overview, Screen::charts}, change_chart_scale, "scale", "scale charts to the capacity, or to the values"},

        {{key('g')}, {Screen::allocations}, next_group, "group", "next grouping: name, scope, kind, process ..."},
        {{key('G')}, {Screen::allocations}, show_list, "list", "list without groups"},
        {{Key::f6, key('s')}, {Screen::allocations}, next_list_order, "sort", "next sort order"},
        {{key('t')}, {Screen::allocations}, toggle_tree, "tree", "a tree by scope, with sums"},
        {{Key::space}, {Screen::allocations}, toggle_scope, "", "open or close a scope of the tree"},
        {{key('w')}, {Screen::allocations}, next_growth, "grew", "grew in the last minute (daemon), or at marks", KeySource::host},
        {{key('m')}, {Screen::allocations}, request_mark, "mark", "set a mark: show only newer allocations"},
        {{key('M')}, {Screen::allocations}, clear_mark, "", "clear the mark"},

        {{Key::up, Key::down, Key::left, Key::right, Key::page_up, Key::page_down, Key::home, Key::end}, {Screen::map},
         move_map_cursor, "move", "move the cursor"},
        {{key('z')}, {Screen::map}, zoom_map_in, "zoom in", "zoom in"},
        {{key('Z')}, {Screen::map}, zoom_map_out, "zoom out", "zoom out"},
        {{key('n')}, {Screen::map}, next_pool, "next pool", "next pool"},

        {{Key::space}, {Screen::events}, toggle_pause, "pause", "pause, resume", KeySource::host},

        {{key('p')}, {Screen::failures}, toggle_post_mortems, "post-mortems", "post-mortems instead of failures", KeySource::host},

        {{key('p')}, kAll, toggle_playing, "play/pause", "play or pause", KeySource::recording},
        {{Key::space}, kWithoutScopes, toggle_playing, "", "play or pause", KeySource::recording},
        {{key('.')}, kAll, step_forward, "step", "pause, and step to the next event", KeySource::recording},
        {{key(',')}, kAll, step_back, "", "pause, and step to the event before", KeySource::recording},
        {{key(']')}, kAll, play_faster, "speed up", "play faster", KeySource::recording},
        {{key('[')}, kAll, play_slower, "", "play slower", KeySource::recording},
        {{key('l')}, kAll, skip_forward, "", "skip forward by a twentieth of the recording", KeySource::recording},
        {{key('j')}, kAll, skip_back, "", "skip back by a twentieth of the recording", KeySource::recording},
        {{key('P')}, kAll, go_to_peak, "peak", "go to the peak of DRAM, then of the other kinds", KeySource::recording},
        {{key('f'), key('F')}, kAll, go_to_failure, "failure", "go to the next, previous failure", KeySource::recording},
        {{key('b'), key('B')}, kAll, go_to_mark, "mark", "go to the next, previous mark of a program", KeySource::recording},
        {{key('{')}, kAll, go_to_beginning, "", "go to the beginning", KeySource::recording},
        {{key('}')}, kAll, go_to_end, "", "go to the end", KeySource::recording},
    };
    // clang-format on
}

// A row of keys that has a shorter name than its members together.
struct KeyRun {
    std::vector<Key> keys;
    std::string name;
};
const std::vector<KeyRun>& key_runs() {
    static const std::vector<KeyRun> kRuns = {
        {{Key::up, Key::down, Key::left, Key::right}, "arrows"},
        {{Key::up, Key::down}, "Up/Down"},
        {{Key::left, Key::right}, "Left/Right"},
        {{Key::wheel_up, Key::wheel_down}, "wheel"},
        {{Key::backspace, Key::backspace_control}, "Backspace"},
        {{Key::page_up, Key::page_down}, "PgUp/PgDn"},
        {{Key::home, Key::end}, "Home/End"},
        {key_bindings().front().keys, name_of(key_bindings().front().keys.front()) + " ... " +
                                          name_of(key_bindings().front().keys.back())},
    };
    return kRuns;
}

std::vector<std::string> key_names(const std::vector<Key>& keys) {
    std::vector<std::string> names;
    for (auto at = keys.begin(); at != keys.end();) {
        const auto& runs = key_runs();
        const auto run = std::find_if(runs.begin(), runs.end(), [&](const KeyRun& one) {
            return one.keys.size() <= static_cast<size_t>(keys.end() - at) &&
                   std::equal(one.keys.begin(), one.keys.end(), at);
        });
        names.push_back(run == runs.end() ? name_of(*at) : run->name);
        at += run == runs.end() ? 1 : static_cast<std::ptrdiff_t>(run->keys.size());
    }
    return names;
}

std::vector<HelpLine> make_help() {
    std::vector<HelpLine> lines;
    std::string section;
    for (const KeyBinding& binding : key_bindings()) {
        std::string title = places_text(binding);
        title.front() = title.front() == 'e' ? 'E' : title.front() == 'i' ? 'I' : title.front();
        if (title != section) {
            section = title;
            lines.push_back({"", std::move(title)});
        }
        lines.push_back({keys_text(binding), std::string(binding.help)});
    }
    lines.insert(lines.end(), {{"", "Terms"},
                               {"used", "reserved bytes, including rounding"},
                               {"inexact", "may be wrong; the third line says why"},
                               {"settling", "an event was recorded during the read"},
                               {"gap", "events were lost; the figures are complete"},
                               {"stale", "the daemon is gone: its last figures"}});
    return lines;
}

}  // namespace

const std::vector<KeyBinding>& key_bindings() {
    static const std::vector<KeyBinding> kBindings = make_bindings();
    return kBindings;
}

const KeyBinding* find_binding(Key pressed, Screen screen, KeySource source) {
    const auto& all = key_bindings();
    const auto found = std::find_if(all.begin(), all.end(), [&](const KeyBinding& binding) {
        return binding.works_with(source) && binding.screens.contains(screen) &&
               std::find(binding.keys.begin(), binding.keys.end(), pressed) != binding.keys.end();
    });
    return found == all.end() ? nullptr : &*found;
}

std::string keys_text(const KeyBinding& binding) {
    return fmt::format("{}", fmt::join(key_names(binding.keys), ", "));
}

std::string places_text(const KeyBinding& binding) {
    if (binding.source == KeySource::recording) {
        return "in a recording";  // Space, which opens scopes, is the only one that is not on every screen
    }
    const ScreenSet& screens = binding.screens;
    if (screens == ScreenSet::all()) {
        return "everywhere";
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < kScreens; ++i) {
        if (screens.contains(static_cast<Screen>(i))) {
            names.push_back(fmt::format("{} {}", i, kScreenTitles[i].title));
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string other_screens_text(Key pressed, KeySource source) {
    std::vector<std::string> names;
    bool is_known = false;
    for (const KeyBinding& binding : key_bindings()) {
        if (std::find(binding.keys.begin(), binding.keys.end(), pressed) != binding.keys.end()) {
            is_known = true;
            if (binding.works_with(source)) {
                names.push_back(places_text(binding));
            }
        }
    }
    if (names.empty() && is_known) {
        return fmt::format("{} works {} a recording.", name_of(pressed),
                           source == KeySource::recording ? "on the host, not in" : "in");
    }
    return names.empty() ? "" : fmt::format("{} works on {}.", name_of(pressed), fmt::join(names, ", "));
}

std::vector<FooterHint> footer_hints(Screen screen, KeySource source) {
    const auto rank_of = [](const KeyBinding& binding) {
        const bool is_of_all_screens = binding.screens == ScreenSet::all() && binding.action != open_selected;
        return binding.source == KeySource::recording ? 0 : is_of_all_screens ? 2 : 1;
    };
    std::vector<FooterHint> hints;
    for (const int rank : {0, 1, 2}) {
        for (const KeyBinding& binding : key_bindings()) {
            if (!binding.hint.empty() && binding.works_with(source) && binding.screens.contains(screen) &&
                rank_of(binding) == rank) {
                hints.push_back({key_names(binding.keys).front(), binding.hint});
            }
        }
    }
    return hints;
}

const std::vector<HelpLine>& help_lines() {
    static const std::vector<HelpLine> kLines = make_help();
    return kLines;
}

std::string keys_manual() {
    std::string text = "| keys | screens | action |\n|---|---|---|\n";
    for (const KeyBinding& binding : key_bindings()) {
        std::vector<std::string> names = key_names(binding.keys);
        for (std::string& name : names) {
            name = fmt::format("`{}`", name);
        }
        text += fmt::format("| {} | {} | {} |\n", fmt::join(names, ", "), places_text(binding), binding.help);
    }
    return text;
}

}  // namespace ttmem::tui
