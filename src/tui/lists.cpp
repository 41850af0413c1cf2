// SPDX-License-Identifier: Apache-2.0
#include "tui/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "view/text/screens.hpp"

namespace ttmem::tui {

using census::DeviceFigures;
using census::Kind;
using census::ProcessFigures;

namespace {

constexpr size_t kMostReachableRows = 1000;  // that a cursor reaches

bool contains(std::string_view text, const std::string& part) {
    return text.find(part) != std::string_view::npos;
}

// Addresses of the entries that `is_listed`, in the user's direction.
template <class Entries, class IsListed>
auto listed(const Entries& entries, bool is_reverse, IsListed is_listed) {
    std::vector<const typename Entries::value_type*> result;
    for (const auto& entry : entries) {
        if (is_listed(entry)) {
            result.push_back(&entry);
        }
    }
    if (is_reverse) {
        std::reverse(result.begin(), result.end());
    }
    return result;
}

bool is_on(const ProcessFigures& process, uint32_t device) {
    return std::any_of(process.devices.begin(), process.devices.end(),
                       [&](const census::DeviceHoldings& held) { return held.id == device; });
}

std::string row_key_of(const census::Group& group) {
    return fmt::format("{}\n{}", group.key, group.pid.value_or(0));
}

std::string row_key_of(const census::LiveAllocation& live) {
    return fmt::format("{} {} {} {} {}", live.pid, live.owner, live.address.value_or(0),
                       census::name_of(live.kind), fmt::join(live.devices, ","));
}

std::string row_key_of(const ScopeRow& row) { return "/" + row.path; }
std::string row_key_of(const view::NameGrowth& name) {
    return fmt::format("{}\n{}", name.name, census::name_of(name.kind));
}
std::string row_key_of(const view::NameLeak& leak) {
    return fmt::format("{}\n{}\n{}", leak.name, census::name_of(leak.kind), leak.pid);
}
std::string row_key_of(const view::EventView& event) { return std::to_string(event.sequence); }
std::string row_key_of(const census::FailureFigures& failure) {
    return fmt::format("{} {} {}", failure.pid, failure.time_ns, failure.name);
}
// The oldest one stays when another one ends.
std::string row_key_of(const view::EqualPostMortems& row) {
    return fmt::format("{} {}", row.oldest->process.pid, row.oldest->died_ns);
}
std::string row_key_of(const ProcessFigures& process) { return std::to_string(process.pid); }
std::string row_key_of(const DeviceFigures& device) { return std::to_string(device.id); }

template <class Entry>
const Entry& target_of(const Entry& entry) {
    return entry;
}
template <class Entry>
const Entry& target_of(const Entry* const& entry) {
    return *entry;
}

template <class Entries>
std::vector<std::string> keys_of(const Entries& entries) {
    std::vector<std::string> keys;
    keys.reserve(entries.size());
    for (const auto& entry : entries) {
        keys.push_back(row_key_of(target_of(entry)));
    }
    return keys;
}

// The key that is selected on screens whose selection is a process or a device.
std::optional<std::string> chosen_key(const Model& model, const Ui& ui) {
    if (ui.screen == Screen::overview) {
        return ui.process ? std::to_string(*ui.process) : "";
    }
    if (ui.screen == Screen::telemetry) {
        const DeviceFigures* device = chosen_device(model, ui);
        return device == nullptr ? "" : std::to_string(device->id);
    }
    return std::nullopt;
}

}  // namespace

census::Holding holding_of(const Model& model, const Ui& ui, const ProcessFigures& process, Kind kind) {
    const DeviceFigures* device = ui.all_devices ? nullptr : chosen_device(model, ui);
    census::Holding sum;
    for (const census::DeviceHoldings& held : process.devices) {
        if (device != nullptr && held.id != device->id) {
            continue;
        }
        const census::Holding& one = held.memory[index_of(kind)];
        sum.used += one.used;
        sum.is_known = sum.is_known && one.is_known;
    }
    return sum;
}

std::vector<const ProcessFigures*> listed_processes(const Model& model, const Ui& ui) {
    if (!model.status()) {
        return {};
    }
    const DeviceFigures* device = ui.all_devices ? nullptr : chosen_device(model, ui);
    const std::string& wanted = ui.filters[static_cast<size_t>(Screen::overview)];
    auto processes = listed(model.status()->figures.processes, false, [&](const ProcessFigures& process) {
        return (device == nullptr || is_on(process, device->id)) &&
               contains(fmt::format("{} {} {}", process.pid, process.user, process.comm), wanted);
    });
    const auto used = [&](const ProcessFigures* process, Kind kind) {
        return holding_of(model, ui, *process, kind).used;
    };
    const auto before = [&](const ProcessFigures* a, const ProcessFigures* b) {
        switch (ui.order) {
            case ProcessOrder::dram:
                return used(a, Kind::dram) > used(b, Kind::dram);
            case ProcessOrder::l1:
                return used(a, Kind::l1) > used(b, Kind::l1);
            case ProcessOrder::cb:
                return used(a, Kind::cb) > used(b, Kind::cb);
            case ProcessOrder::pid:
                return a->pid < b->pid;
            case ProcessOrder::age:
                return a->start_time_ns < b->start_time_ns;
            case ProcessOrder::user:
                return a->user < b->user;
            case ProcessOrder::command:
                return a->comm < b->comm;
        }
        return false;
    };
    std::stable_sort(processes.begin(), processes.end(), before);
    if (ui.reverse[static_cast<size_t>(Screen::overview)]) {
        std::reverse(processes.begin(), processes.end());
    }
    return processes;
}

std::vector<const DeviceFigures*> listed_devices(const Model& model, const Ui& ui) {
    if (!model.status()) {
        return {};
    }
    return listed(model.status()->figures.devices, ui.is_reverse(), [&](const DeviceFigures& device) {
        const std::string bus = device.driver ? device.driver->bdf.value_or("") : "";
        return contains(fmt::format("{} {} {}", device.id, device.board.value_or(""), bus), ui.filter());
    });
}

std::vector<ScopeRow> listed_scopes(const Model& model, const Ui& ui) {
    const auto* groups = model.answer<view::GroupView>();
    const bool is_shown = groups != nullptr && ui.screen == Screen::allocations &&
                          ui.growth == ShownGrowth::none && ui.tree && ui.group == census::GroupBy::name &&
                          groups->group == census::GroupBy::name;
    return is_shown ? scope_rows(groups->groups, ui.closed_scopes) : std::vector<ScopeRow>();
}

std::vector<const view::NameGrowth*> listed_growth(const Model& model, const Ui& ui) {
    const auto* growth = model.answer<view::GrowthView>();
    if (growth == nullptr) {
        return {};
    }
    return listed(growth->names, ui.is_reverse(), [](const view::NameGrowth&) { return true; });
}

std::vector<const view::NameLeak*> listed_leaks(const Model& model, const Ui& ui) {
    const auto* leaks = model.answer<view::LeakView>();
    if (leaks == nullptr) {
        return {};
    }
    return listed(leaks->leaks, ui.is_reverse(), [](const view::NameLeak&) { return true; });
}

std::vector<const view::EventView*> listed_events(const Model& model, const Ui& ui) {
    const view::Style style{.width = 1000};
    return listed(model.events(), ui.is_reverse(), [&](const view::EventView& event) {
        return (!ui.paused || event.sequence <= ui.paused_at) &&
               (ui.filter().empty() || contains(view::event_line(event, style).plain(), ui.filter()));
    });
}

namespace {

bool is_listed(const Ui& ui, const census::FailureFigures& failure) {
    return contains(fmt::format("{} {}", failure.pid, failure.name), ui.filter());
}

}  // namespace

std::vector<const view::KeptCard*> listed_kept(const Model& model, const Ui& ui) {
    const auto* why = model.answer<view::WhyView>();
    if (why == nullptr) {
        return {};
    }
    return listed(why->kept.newest_first, ui.is_reverse(),
                  [&](const view::KeptCard& card) { return is_listed(ui, card.failure); });
}

std::vector<const census::FailureFigures*> listed_failures(const Model& model, const Ui& ui) {
    const auto* why = model.answer<view::WhyView>();
    if (why == nullptr) {
        return {};
    }
    auto failures = listed(why->failures.failures, ui.is_reverse(),
                           [&](const census::FailureFigures& failure) { return is_listed(ui, failure); });
    for (const view::KeptCard* card : listed_kept(model, ui)) {
        failures.push_back(&card->failure);
    }
    return failures;
}

std::vector<view::EqualPostMortems> listed_post_mortems(const Model& model, const Ui& ui) {
    const auto* list = model.answer<view::PostMortemListView>();
    if (list == nullptr) {
        return {};
    }
    const auto matching = listed(list->post_mortems, false, [&](const census::PostMortemSummary& one) {
        return contains(fmt::format("{} {} {}", one.process.pid, one.process.user, one.process.comm),
                        ui.filter());
    });
    std::vector<view::EqualPostMortems> rows = view::fold_post_mortems(matching, {});
    if (ui.is_reverse()) {
        std::reverse(rows.begin(), rows.end());
    }
    return rows;
}

std::vector<std::string> row_keys(const Model& model, const Ui& ui) {
    switch (ui.screen) {
        case Screen::overview:
            return keys_of(listed_processes(model, ui));
        case Screen::telemetry:
            return keys_of(listed_devices(model, ui));
        case Screen::allocations:
            if (ui.growth == ShownGrowth::last_minute) {
                return keys_of(listed_growth(model, ui));
            }
            if (ui.growth == ShownGrowth::at_marks) {
                return keys_of(listed_leaks(model, ui));
            }
            if (ui.tree && ui.group == census::GroupBy::name) {
                return keys_of(listed_scopes(model, ui));
            }
            if (const auto* groups = model.answer<view::GroupView>(); groups != nullptr && ui.group) {
                return keys_of(groups->groups);
            }
            if (const auto* list = model.answer<view::AllocationView>(); list != nullptr && !ui.group) {
                return keys_of(list->allocations);
            }
            return {};
        case Screen::events:
            return keys_of(listed_events(model, ui));
        case Screen::failures:
            if (ui.has_open_text()) {
                return {};
            }
            return ui.post_mortems ? keys_of(listed_post_mortems(model, ui))
                                   : keys_of(listed_failures(model, ui));
        case Screen::breakdown:
        case Screen::charts:
        case Screen::map:
            break;
    }
    return {};
}

size_t row_count(const Model& model, const Ui& ui) {
    const size_t loaded = row_keys(model, ui).size();
    const bool is_tree = ui.tree && ui.group == census::GroupBy::name;
    if (ui.screen != Screen::allocations || ui.growth != ShownGrowth::none || is_tree || loaded == 0) {
        return loaded;
    }
    const uint64_t count =
        ui.group ? model.answer<view::GroupView>()->total : model.answer<view::AllocationView>()->total;
    return std::max(loaded, static_cast<size_t>(std::min<uint64_t>(count, kMostReachableRows)));
}

std::optional<size_t> selected_row(const Model& model, const Ui& ui) {
    const std::vector<std::string> keys = row_keys(model, ui);
    if (keys.empty()) {
        return std::nullopt;
    }
    const auto chosen = chosen_key(model, ui);
    const std::string& wanted = chosen ? *chosen : ui.cursor.key;
    const auto found = std::find(keys.begin(), keys.end(), wanted);
    if (found != keys.end()) {
        return static_cast<size_t>(found - keys.begin());
    }
    // Without a selection, events follow the newest.
    const bool needs_key = chosen || (ui.screen == Screen::events && wanted.empty());
    return needs_key ? std::nullopt : std::optional(std::min(ui.cursor.row, row_count(model, ui) - 1));
}

void select_row(const Model& model, Ui& ui, size_t row) {
    const std::vector<std::string> keys = row_keys(model, ui);
    const std::string key = row < keys.size() ? keys[row] : "";
    if (ui.screen == Screen::overview && row < keys.size()) {
        ui.process = listed_processes(model, ui)[row]->pid;
    } else if (ui.screen == Screen::telemetry && row < keys.size()) {
        ui.device = listed_devices(model, ui)[row]->id;
    } else {
        ui.cursor = {row, key};
    }
}

}  // namespace ttmem::tui
