// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the user selected: which screen, which device, which order. Changed by keys (tui/keys.hpp) and kept by settings.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tui/model.hpp"

namespace ttmem::tui {

enum class Screen : uint8_t { overview, breakdown, charts, telemetry, allocations, map, events, failures };
constexpr size_t kScreens = 8;

// In which order processes stand.
enum class ProcessOrder : uint8_t { dram, l1, cb, pid, age, user, command };
constexpr size_t kOrders = 7;
std::string_view name_of(ProcessOrder order);

// The spans of charts; the first is so many samples as they come.
constexpr size_t kSamplesOfAChart = 60;
constexpr std::array<uint64_t, 5> kZooms = {0, 120, 300, 900, 3600};  // seconds

constexpr std::array<uint64_t, 6> kIntervals = {250, 500, 1000, 2000, 5000, 10'000};  // ms

// How fast a recording is played, in multiples of its own time.
struct PlaybackSpeed {
    double factor = 1;
    const char* name = "1x";
};
constexpr std::array<PlaybackSpeed, 11> kSpeeds = {{{0.0001, "1/10000x"},
                                                    {0.001, "1/1000x"},
                                                    {0.01, "1/100x"},
                                                    {0.1, "1/10x"},
                                                    {0.5, "1/2x"},
                                                    {1, "1x"},
                                                    {2, "2x"},
                                                    {5, "5x"},
                                                    {20, "20x"},
                                                    {60, "60x"},
                                                    {600, "600x"}}};
constexpr size_t kNormalSpeed = 5;

// The process that somebody wants to send a signal to, and which.
struct SignalChoice {
    uint32_t pid = 0;
    uint64_t start_time_ns = 0;
    std::string comm;
    size_t signal = 0;  // of kSignals
};
struct NamedSignal {
    int number;
    const char* name;
};
extern const std::array<NamedSignal, 5> kSignals;

// The selected row of a list. It follows its entry when the rows change their order.
struct ListCursor {
    size_t row = 0;
    std::string key;  // of the entry (tui/lists.hpp); empty: none is selected

    bool operator==(const ListCursor&) const = default;
};

// On the screen of allocations: what grew instead of what is live.
enum class ShownGrowth : uint8_t {
    none,
    last_minute,
    at_marks,  // from mark to mark
};

// Where the user is: what Enter changes, and Esc restores.
struct UiLocation {
    Screen screen = Screen::overview;
    std::optional<uint32_t> device;    // absent: the first there is
    bool all_devices = true;           // lists are about all, not about the chosen one
    bool all_sections = false;         // the breakdown of all devices
    std::optional<uint32_t> process;   // the pid of the chosen one
    std::optional<uint32_t> pid;       // allocations of this process alone
    std::optional<census::Kind> kind;  // allocations of this kind alone
    ShownGrowth growth = ShownGrowth::none;
    bool tree = false;  // groups by name as a tree of scopes
    std::optional<census::GroupBy> group = census::GroupBy::name;
    std::array<std::string, kScreens> filters;  // the text that was searched for, per screen
    census::Sort sort = census::Sort::used;
    std::array<bool, kScreens> reverse{};  // per screen
    ListCursor cursor;
    size_t scroll = 0;  // of texts

    std::optional<size_t> pool;       // which of the maps; absent: that of the target, or the fullest
    std::optional<MapTarget> target;  // the allocation whose place the map shows
    unsigned map_zoom = 0;
    std::optional<uint64_t> map_cursor;  // an offset in the bank; absent: that of the target

    bool post_mortems = false;                 // instead of failures
    std::optional<uint32_t> open_post_mortem;  // the pid of the one that is shown
    struct OpenCard {
        uint32_t pid = 0;
        uint64_t number = 0;
        std::optional<uint64_t> kept_ns = {};  // of an ended process: when it failed, as pids come again
    };
    std::optional<OpenCard> open_card;  // the card of a failure that is shown

    // A text that scrolls, instead of a list.
    bool has_open_text() const { return open_post_mortem || open_card; }

    bool is_reverse() const { return reverse[static_cast<size_t>(screen)]; }
    std::string& filter() { return filters[static_cast<size_t>(screen)]; }
    const std::string& filter() const { return filters[static_cast<size_t>(screen)]; }
};

// The top of a chart's scale: what the device has, or what the values need.
enum class ChartScale : uint8_t { capacity, values };

struct Ui : UiLocation {
    std::vector<UiLocation> back;  // the way here, for Esc
    bool help = false;
    uint64_t interval_ms = 500;

    ProcessOrder order = ProcessOrder::dram;

    size_t zoom = 0;  // of charts
    ChartScale scale = ChartScale::capacity;

    std::set<std::string> closed_scopes;  // of the tree

    std::optional<uint64_t> mark_ns;  // of the monotonic clock
    uint64_t mark_time_ns = 0;        // the same since the epoch

    bool is_playing = false;  // a recording
    size_t speed = kNormalSpeed;
    std::optional<PlaybackJump> jump;  // that the last key wants

    bool paused = false;
    uint64_t paused_at = 0;  // the number of the last event that was shown then

    std::optional<std::string> prompt;  // what was typed of a filter so far
    std::optional<SignalChoice> signal;
    std::string message;  // about the last key
    std::string page;     // the address of the page; empty: it is not known
};

// The selected device, or the first one.
const census::DeviceFigures* chosen_device(const Model& model, const Ui& ui);

// What the visible screen asks for, with room for this number of rows.
ScreenQuery query_of(const Model& model, const Ui& ui, int rows);

}  // namespace ttmem::tui
