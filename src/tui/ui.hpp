// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the user selected: which screen, which device, which order. Changed by keys (tui/keys.hpp) and kept by settings.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tui/model.hpp"

namespace ttmem::tui {

enum class Screen : uint8_t { overview, breakdown, charts, telemetry, allocations, map, events, failures };
constexpr size_t kScreens = 8;

// In which order processes stand.
enum class ProcessOrder : uint8_t { used, pid, dram, l1, cb, age, user, command };
constexpr size_t kOrders = 8;
std::string_view name_of(ProcessOrder order);

// The spans of charts; the first is so many samples as they come.
constexpr size_t kSamplesOfAChart = 60;
constexpr std::array<uint64_t, 5> kZooms = {0, 120, 300, 900, 3600};  // seconds

constexpr std::array<uint64_t, 6> kIntervals = {250, 500, 1000, 2000, 5000, 10'000};  // ms

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

struct Ui {
    Screen screen = Screen::overview;
    bool help = false;
    uint64_t interval_ms = 500;
    std::optional<uint32_t> device;  // absent: the first there is
    bool all_devices = true;         // lists are about all, not about the chosen one

    ProcessOrder order = ProcessOrder::used;
    bool reverse = false;
    std::optional<uint32_t> process;  // the pid of the chosen one

    size_t zoom = 0;  // of charts

    std::optional<census::GroupBy> group = census::GroupBy::name;
    census::Sort sort = census::Sort::used;
    std::optional<uint32_t> pid;  // allocations of this process alone
    std::string filter;           // a part of a name
    size_t scroll = 0;
    std::optional<uint64_t> mark_ns;  // of the monotonic clock
    uint64_t mark_time_ns = 0;        // the same since the epoch

    std::optional<size_t> pool;  // which of the maps; absent: the one with the most in it
    unsigned map_zoom = 0;
    uint64_t map_cursor = 0;  // an offset in the bank

    bool paused = false;
    uint64_t paused_at = 0;  // the number of the last event that was shown then
    std::string event_filter;

    bool post_mortems = false;                 // instead of failures
    size_t post_mortem = 0;                    // which of the list is chosen
    std::optional<uint32_t> open_post_mortem;  // the pid of the one that is shown

    std::optional<std::string> prompt;  // what was typed of a filter so far
    std::optional<SignalChoice> signal;
    std::string message;  // about the last key
};

// The selected device, or the first one.
const census::DeviceFigures* chosen_device(const Model& model, const Ui& ui);

// What the visible screen asks for, with room for this number of rows.
ScreenQuery query_of(const Model& model, const Ui& ui, int rows);

}  // namespace ttmem::tui
