// SPDX-License-Identifier: Apache-2.0
#include "tui/ui.hpp"

#include <signal.h>

#include <algorithm>
#include <cassert>

namespace ttmem::tui {

const std::array<NamedSignal, 5> kSignals = {{{SIGTERM, "SIGTERM"},
                                              {SIGINT, "SIGINT"},
                                              {SIGKILL, "SIGKILL"},
                                              {SIGSTOP, "SIGSTOP"},
                                              {SIGCONT, "SIGCONT"}}};

std::string_view name_of(ProcessOrder order) {
    constexpr std::array<std::string_view, kOrders> kNames = {"dram", "l1",   "cb",     "pid",
                                                              "age",  "user", "command"};
    assert(static_cast<size_t>(order) < kNames.size());
    return kNames[static_cast<size_t>(order)];
}

const census::DeviceFigures* chosen_device(const Model& model, const Ui& ui) {
    if (!model.status() || model.status()->figures.devices.empty()) {
        return nullptr;
    }
    const auto& devices = model.status()->figures.devices;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const census::DeviceFigures& one) { return one.id == ui.device; });
    return found == devices.end() ? &devices.front() : &*found;
}

namespace {

constexpr uint64_t kMostRows = 1000;    // of a list that is scrolled through
constexpr uint64_t kMostBlocks = 4096;  // of a map
constexpr uint64_t kMostFailures = 50;
constexpr uint64_t kMostEventsAtOnce = 500;  // more than people can read

// The filters that lists and groups have in common.
template <class Query>
Query allocation_query(const Ui& ui, const std::optional<std::string>& device, uint64_t rows) {
    Query query;
    query.device = device;
    query.pid = ui.pid;
    query.kind = ui.kind;
    query.name = ui.filter();
    query.since = ui.mark_ns;
    query.sort = ui.sort;
    query.reverse = ui.is_reverse();
    // Whole windows, so that not every step of the cursor is another query.
    query.limit = std::min((ui.cursor.row + 2 * rows - 1) / rows * rows, kMostRows);
    return query;
}

ScreenQuery allocations_or_groups(const Ui& ui, const std::optional<std::string>& device, uint64_t rows) {
    if (ui.growth == ShownGrowth::last_minute) {
        return view::GrowthQuery{device, ui.pid, ui.kind, ui.filter(), kMostRows};
    }
    if (ui.growth == ShownGrowth::at_marks) {
        return view::LeakQuery{
            .device = device, .pid = ui.pid, .kind = ui.kind, .name = ui.filter(), .limit = kMostRows};
    }
    if (ui.group) {
        auto query = allocation_query<view::GroupQuery>(ui, device, rows);
        query.group = *ui.group;
        if (ui.tree) {
            query.limit = kMostRows;  // sums need all names
        }
        return query;
    }
    return allocation_query<view::AllocationQuery>(ui, device, rows);
}

// Of those that the charts show, the first whose past has not been asked for yet.
std::optional<uint32_t> device_without_past(const Model& model, const Ui& ui, bool shows_all) {
    constexpr size_t kMostAtOnce = 16;
    const census::DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr || model.link() != Link::daemon) {
        return std::nullopt;
    }
    const auto& devices = model.status()->figures.devices;
    const auto first = static_cast<size_t>(device - devices.data());
    assert(first < devices.size());
    for (size_t i = 0; i < (shows_all ? std::min(devices.size(), kMostAtOnce) : 1); ++i) {
        const uint32_t id = devices[(first + i) % devices.size()].id;
        if (!model.knows_past_of(id)) {
            return id;
        }
    }
    return std::nullopt;
}

}  // namespace

ScreenQuery query_of(const Model& model, const Ui& ui, int rows) {
    const census::DeviceFigures* device = chosen_device(model, ui);
    const std::string id = device != nullptr ? std::to_string(device->id) : "";
    const std::optional<std::string> filter =
        device != nullptr && !ui.all_devices ? std::optional(id) : std::nullopt;
    switch (ui.screen) {
        case Screen::allocations:
            return allocations_or_groups(ui, filter, static_cast<uint64_t>(std::max(rows, 1)));
        case Screen::map:
            if (device != nullptr) {
                return PoolMapQuery{{.device = id, .limit = kMostBlocks}, ui.pool, ui.target};
            }
            break;
        case Screen::events:
            return view::EventQuery{.last = kMostEventsAtOnce};
        case Screen::charts:
            if (const auto without = device_without_past(model, ui, ui.all_devices)) {
                return DevicePastQuery{*without};
            }
            return view::FailureQuery{.brief = true, .limit = kMostFailures};  // for the marks
        case Screen::failures:
            if (!ui.post_mortems) {
                return view::FailureQuery{.device = filter, .brief = true, .limit = kMostFailures};
            }
            if (ui.open_post_mortem) {
                return view::PostMortemQuery{.pid = *ui.open_post_mortem, .limit = kMostFailures};
            }
            return view::PostMortemListQuery{};
        case Screen::breakdown:
            if (device != nullptr) {
                return view::CoreQuery{id};
            }
            break;
        case Screen::overview:
            if (const auto without = device_without_past(model, ui, false)) {
                return DevicePastQuery{*without};
            }
            break;
        case Screen::telemetry:
            break;
    }
    return std::monostate();
}

}  // namespace ttmem::tui
