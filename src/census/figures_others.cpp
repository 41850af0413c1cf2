// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "census/figures_builder.hpp"

namespace ttmem::census {

namespace {

// Unreported values are absent. Reported values carry bytes only.
void add_totals(FiguresBuilder& builder, ProcessFigures& process, const DeviceTotals& totals,
                size_t position) {
    DeviceFigures& device = builder.figures.devices[position];
    PartialFigures& partial = builder.partial[position];
    DeviceHoldings held;
    held.id = device.id;
    held.logical_id = totals.logical_id;
    partial.is_count_unreported = true;
    for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
        const uint64_t bytes = totals.requested[kind].value_or(0);
        const bool is_reported = totals.requested[kind].has_value();
        (is_reported ? partial.is_reported : partial.is_unreported)[kind] = true;
        held.memory[kind] = {bytes, bytes, 0, is_reported, false};
        add_to(device.memory[kind], held.memory[kind]);
        partial.peaks[kind].push_back({SIZE_MAX, 0, 0, bytes, bytes});
    }
    partial.peaks_lost = true;  // the peaks are only lower bounds
    process.devices.push_back(held);
}

bool is_counted(const Census& census, const Identity& identity) {
    const auto is_same = [&](const auto& one) { return one.identity.is_same_process(identity); };
    return std::any_of(census.processes.begin(), census.processes.end(), is_same) ||
           std::any_of(census.totals_only.begin(), census.totals_only.end(), is_same);
}

}  // namespace

void add_totals_only(FiguresBuilder& builder, const Census& census) {
    for (const TotalsOnly& one : census.totals_only) {
        ProcessFigures process = describe_process(one.identity, ProcessState::live, one.source);
        uint64_t left_out = 0;
        for (const DeviceTotals& totals : one.devices) {
            if (const auto position = builder.table.position_of_asic(totals.asic_id)) {
                add_totals(builder, process, totals, *position);
            } else {
                ++left_out;
            }
        }
        builder.figures.processes.push_back(std::move(process));
        builder.figures.inexact.push_back({one.identity.pid, Reason::reserved_unknown, one.devices.size()});
        builder.figures.inexact.push_back(
            {one.identity.pid, Reason::totals_only, one.devices.size(), one.lacks});
        if (left_out != 0) {
            builder.figures.inexact.push_back({one.identity.pid, Reason::too_many_devices, left_out});
        }
    }
}

void add_untracked(FiguresBuilder& builder, const Census& census) {
    for (size_t i = 0; census.driver && i < census.driver->holders.size(); ++i) {
        const Holder& holder = census.driver->holders[i];
        assert(std::is_sorted(holder.devices.begin(), holder.devices.end()));
        if (is_counted(census, holder.identity)) {
            continue;
        }
        ProcessFigures process =
            describe_process(holder.identity, ProcessState::untracked, ProcessSource::driver);
        for (const DriverDevice& device : census.driver->devices) {
            if (!std::binary_search(holder.devices.begin(), holder.devices.end(), device.id)) {
                continue;
            }
            const size_t position = builder.table.position_of(device);
            DeviceHoldings held;
            held.id = builder.figures.devices[position].id;
            held.logical_id = device.id;
            held.memory.fill({0, 0, 0, false, false});
            process.devices.push_back(held);
            builder.partial[position].is_unreported.fill(true);
        }
        const uint64_t devices = process.devices.size();
        builder.figures.processes.push_back(std::move(process));
        const bool is_unread =
            std::binary_search(census.unread.begin(), census.unread.end(), holder.identity.pid);
        builder.figures.inexact.push_back(
            {holder.identity.pid, is_unread ? Reason::unreadable : Reason::untracked, devices});
    }
}

void note_unnamed_devices(FiguresBuilder& builder, const Census& census) {
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        const DriverDevice& device = census.driver->devices[i];
        const bool is_held = std::any_of(
            census.driver->holders.begin(), census.driver->holders.end(), [&](const Holder& holder) {
                return std::binary_search(holder.devices.begin(), holder.devices.end(), device.id);
            });
        if (device.asic_id || !is_held) {
            continue;
        }
        builder.partial[builder.table.position_of(device)].is_unreported.fill(true);
        builder.figures.inexact.push_back({0, Reason::no_asic_id, 1, std::to_string(device.id)});
    }
}

void note_ambiguous_numbers(FiguresBuilder& builder, const Census& census) {
    const auto is_number = [](const auto& info) {
        return info && key_of(*info).type == DeviceKey::KeyType::number;
    };
    const auto has_numbers = [&](const Report& report) {
        return std::any_of(report.devices.begin(), report.devices.end(), is_number);
    };
    if (std::none_of(builder.reports.begin(), builder.reports.end(), has_numbers)) {
        return;
    }
    // What processes that know a device call it.
    std::set<std::pair<uint32_t, size_t>> names;  // a number, and the position of a device
    std::set<size_t> named;
    const auto add_name = [&](uint32_t number, std::optional<size_t> position) {
        if (position) {
            names.emplace(number, *position);
            named.insert(*position);
        }
    };
    for (size_t report = 0; report < builder.reports.size(); ++report) {
        const auto& devices = builder.reports[report].devices;
        for (size_t entry = 0; entry < devices.size(); ++entry) {
            if (devices[entry] && !is_number(devices[entry])) {
                add_name(devices[entry]->logical_id, builder.table.position(report, entry));
            }
        }
    }
    for (const TotalsOnly& one : census.totals_only) {
        for (const DeviceTotals& totals : one.devices) {
            add_name(totals.logical_id, builder.table.position_of_asic(totals.asic_id));
        }
    }
    const auto is_ambiguous = [&](uint32_t number, size_t position) {
        const bool is_called_so = names.contains({number, position});
        const auto all = std::distance(names.lower_bound({number, 0}), names.upper_bound({number, SIZE_MAX}));
        const bool is_called_otherwise =
            !is_called_so && named.contains(position) && builder.table.devices()[position].driver == nullptr;
        return all > (is_called_so ? 1 : 0) || is_called_otherwise;
    };
    for (size_t report = 0; report < builder.reports.size(); ++report) {
        const auto& devices = builder.reports[report].devices;
        uint64_t ambiguous = 0;
        for (size_t entry = 0; entry < devices.size(); ++entry) {
            const auto position = builder.table.position(report, entry);
            if (position && is_number(devices[entry]) &&
                is_ambiguous(devices[entry]->logical_id, *position)) {
                ++ambiguous;
            }
        }
        if (ambiguous != 0) {
            builder.figures.inexact.push_back(
                {builder.reports[report].process->identity.pid, Reason::ambiguous_number, ambiguous});
        }
    }
}

void note_own_numbers(FiguresBuilder& builder, const Census& census) {
    const auto& inexact = builder.figures.inexact;
    const bool lacks_processes =
        std::any_of(census.omissions.begin(), census.omissions.end(),
                    [](const Omission& one) { return one.reason == Reason::processes_unreadable; }) ||
        std::any_of(inexact.begin(), inexact.end(),
                    [](const Inexactness& one) { return one.reason == Reason::unreadable; });
    if (!lacks_processes) {
        return;
    }
    const auto& ids = builder.table.ids();
    const auto own = std::count_if(ids.begin(), ids.end(), [&](const auto& entry) {
        return entry.first.type != DeviceKey::KeyType::number && !census.device_ids->is_shared(entry.first);
    });
    if (own != 0) {
        builder.figures.inexact.push_back(
            {0, Reason::numbers_may_differ, static_cast<uint64_t>(own),
             "not every process can be read here, and no daemon of the host gave them"});
    }
}

void note_disputes(FiguresBuilder& builder) {
    for (const DeviceTable::Device& device : builder.table.devices()) {
        if (!device.dispute) {
            continue;
        }
        std::string detail = std::to_string(device.id) + ": process " + std::to_string(device.dispute->pid) +
                             " describes it differently from ";
        detail += device.dispute->is_with_driver ? "the driver" : "processes of other users";
        builder.figures.inexact.push_back(
            {0, Reason::device_disputed, device.dispute->users, std::move(detail)});
    }
}

}  // namespace ttmem::census
