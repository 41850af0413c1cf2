// SPDX-License-Identifier: Apache-2.0
#include "census/device_admission.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <set>
#include <tuple>
#include <utility>

namespace ttmem::census {

namespace {

constexpr size_t kNoReport = SIZE_MAX;  // the entry belongs to a process without a ledger

struct DeviceEntry {
    size_t report = kNoReport;
    size_t entry = 0;
    DeviceKey key;
    uint32_t logical_id = 0;
    uint32_t uid = 0;
};

uint64_t set_members_of(const Report& report) {
    uint64_t members = 0;
    for (const segment::SetTotals& set : report.totals.sets) {
        members += static_cast<uint64_t>(std::popcount(set.set.members));
    }
    return members;
}

void add_entries(const Report& from, size_t report, WorkBudgets& left, std::vector<DeviceEntry>& entries) {
    const uint64_t set_members = set_members_of(from);
    if (set_members > left.set_members) {
        return;
    }
    left.set_members -= set_members;
    for (size_t entry = 0; entry < from.devices.size() && left.device_entries != 0; ++entry) {
        if (const auto& info = from.devices[entry]) {
            --left.device_entries;
            entries.push_back({report, entry, key_of(*info), info->logical_id, from.process->identity.uid});
        }
    }
}

void add_entries(const TotalsOnly& from, WorkBudgets& left, std::vector<DeviceEntry>& entries) {
    for (size_t i = 0; i < from.devices.size() && left.device_entries != 0; ++i) {
        --left.device_entries;
        const DeviceTotals& device = from.devices[i];
        entries.push_back({kNoReport, i, asic_key(device.asic_id), device.logical_id, from.identity.uid});
    }
}

// The entries within the shares of their users, the oldest process first.
std::vector<DeviceEntry> entries_by_age(const Census& census, const std::vector<Report>& reports) {
    std::vector<std::tuple<uint64_t, uint32_t, size_t, const TotalsOnly*>> order;
    for (size_t i = 0; i < reports.size(); ++i) {
        const Identity& identity = reports[i].process->identity;
        order.emplace_back(identity.start_time, identity.pid, i, nullptr);
    }
    for (const TotalsOnly& one : census.totals_only) {
        order.emplace_back(one.identity.start_time, one.identity.pid, kNoReport, &one);
    }
    std::sort(order.begin(), order.end());
    WorkShares shares(census.work_budgets);
    std::vector<DeviceEntry> entries;
    for (const auto& [start_time, pid, report, totals_only] : order) {
        if (totals_only != nullptr) {
            add_entries(*totals_only, shares.of(totals_only->identity.uid), entries);
        } else {
            add_entries(reports[report], report, shares.of(reports[report].process->identity.uid), entries);
        }
    }
    return entries;
}

// Devices that the driver lists, also for processes that know their numbers only.
std::set<DeviceKey> keys_of_driver(const Census& census) {
    std::set<DeviceKey> keys;
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        const DriverDevice& device = census.driver->devices[i];
        keys.insert({DeviceKey::KeyType::number, device.id});
        keys.insert(key_of(device));
    }
    return keys;
}

using Users = std::vector<std::pair<DeviceKey, uint32_t>>;  // sorted, unique

Users users_of(const std::vector<DeviceEntry>& entries) {
    Users users;
    users.reserve(entries.size());
    for (const DeviceEntry& entry : entries) {
        users.emplace_back(entry.key, entry.uid);
    }
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    return users;
}

// Whether each device is admitted.
std::map<DeviceKey, bool> admit(const std::vector<DeviceEntry>& entries, const Users& users,
                                const std::set<DeviceKey>& known, size_t most_per_user) {
    std::map<DeviceKey, bool> is_admitted;
    std::map<uint32_t, size_t> charges;
    for (const DeviceEntry& entry : entries) {
        const auto [place, is_new] = is_admitted.try_emplace(entry.key, true);
        if (!is_new || known.contains(entry.key)) {
            continue;
        }
        size_t* least = nullptr;
        for (auto user = std::lower_bound(users.begin(), users.end(), std::pair(entry.key, uint32_t{0}));
             user != users.end() && user->first == entry.key; ++user) {
            size_t& charge = charges[user->second];
            least = least == nullptr || charge < *least ? &charge : least;
        }
        assert(least != nullptr);  // the user of this entry is one of them
        place->second = *least < most_per_user;
        *least += place->second ? 1u : 0u;
    }
    return is_admitted;
}

}  // namespace

AdmittedDevices admit_devices(const Census& census, const std::vector<Report>& reports) {
    const std::vector<DeviceEntry> entries = entries_by_age(census, reports);
    const Users users = users_of(entries);
    const std::set<DeviceKey> driver_keys = keys_of_driver(census);
    const std::map<DeviceKey, bool> is_admitted =
        admit(entries, users, driver_keys, census.work_budgets.own_devices);

    std::vector<ReportedDevice> reported;
    for (const DeviceEntry& entry : entries) {
        if (is_admitted.at(entry.key)) {
            reported.push_back({entry.key, entry.logical_id, entry.uid});
        }
    }
    static const std::vector<DriverDevice> kNoDevices;
    AdmittedDevices result;
    result.ids = census.device_ids->assign(reported, census.driver ? census.driver->devices : kNoDevices);
    for (const Report& report : reports) {
        result.entries.emplace_back(report.devices.size(), false);
    }
    for (const DeviceEntry& entry : entries) {
        if (entry.report != kNoReport) {
            result.entries[entry.report][entry.entry] =
                is_admitted.at(entry.key) && result.ids.contains(entry.key);
        }
    }
    return result;
}

void number_all_devices(const Census& census) { admit_devices(census, read_reports(census)); }

}  // namespace ttmem::census
