// SPDX-License-Identifier: Apache-2.0
#include "census/report.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace ttmem::census {

namespace {

// After a death the counters may lack the event in flight; the ledger is the truth. Peaks are in the counters alone.
segment::Totals last_totals(const segment::Reader& ledger) {
    segment::Totals totals = ledger.totals_from_ledger();
    const segment::Totals counters = ledger.totals();
    for (segment::SetTotals& set : totals.sets) {
        const auto same =
            std::find_if(counters.sets.begin(), counters.sets.end(),
                         [&](const segment::SetTotals& other) { return other.index == set.index; });
        for (size_t kind = 0; same != counters.sets.end() && kind < set.pools.size(); ++kind) {
            set.pools[kind].peak = same->pools[kind].peak;
        }
    }
    totals.settling = false;
    return totals;
}

bool has_geometry(const ttmem_device_info& info) {
    return std::any_of(std::begin(info.memory), std::end(info.memory),
                       [](const auto& m) { return m.banks != 0; });
}

// What speaks for a process's word about a device.
struct Claim {
    bool has_geometry = false;
    bool is_open = false;
    uint64_t start_time = UINT64_MAX;
    const ttmem_device_info* info = nullptr;

    bool is_better_than(const Claim& other) const {
        return std::tuple(has_geometry, is_open, other.start_time) >
               std::tuple(other.has_geometry, other.is_open, start_time);
    }
};

std::vector<uint64_t> asic_ids_in(const std::vector<Report>& reports) {
    std::vector<uint64_t> result;
    for (const Report& report : reports) {
        for (const auto& info : report.devices) {
            if (info && info->asic_id != 0) {
                result.push_back(info->asic_id);
            }
        }
    }
    return result;
}

uint32_t id_of(const DeviceIds& ids, const ttmem_device_info& info) {
    return info.asic_id != 0 ? ids.id_of(info.asic_id) : info.logical_id;
}

// The best word about each device, by its id.
std::map<uint32_t, Claim> best_claims(const DeviceIds& ids, const std::vector<Report>& reports) {
    std::map<uint32_t, Claim> best;
    for (const Report& report : reports) {
        const uint64_t open = report.members_of_open_sets();
        for (size_t entry = 0; entry < report.devices.size(); ++entry) {
            if (const auto& info = report.devices[entry]) {
                const Claim claim{has_geometry(*info), (open >> entry & 1) != 0,
                                  report.process->identity.start_time, &*info};
                Claim& known = best[id_of(ids, *info)];
                known = known.info == nullptr || claim.is_better_than(known) ? claim : known;
            }
        }
    }
    return best;
}

}  // namespace

uint64_t Report::members_of_open_sets() const {
    uint64_t members = 0;
    for (const segment::SetTotals& set : totals.sets) {
        members |= set.is_open() ? set.set.members : 0;
    }
    return members;
}

std::vector<Report> read_reports(const Census& census) {
    std::vector<Report> reports;
    for (const Process& process : census.processes) {
        Report report;
        report.process = &process;
        report.totals =
            process.state == State::dead ? last_totals(*process.ledger) : process.ledger->totals();
        report.devices = process.ledger->devices();  // after the sets, so that it has all that they name
        reports.push_back(std::move(report));
    }
    return reports;
}

uint32_t DeviceTable::id_of(const DriverDevice& device) const {
    return device.asic_id ? ids_->id_of(*device.asic_id) : device.id;
}

// The driver first: its numbers are those that people know.
void DeviceTable::number_all(const Census& census, const std::vector<Report>& reports) {
    if (census.driver) {
        std::vector<std::pair<uint64_t, uint32_t>> placed;
        for (const DriverDevice& device : census.driver->devices) {
            ids_->leave_free(device.id + 1);
            if (device.asic_id) {
                placed.emplace_back(*device.asic_id, device.id);
            }
        }
        ids_->place(placed);
    }
    // Also those of the driver: another device may have had the number of one before it came.
    std::vector<uint64_t> asic_ids = asic_ids_in(reports);
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        if (const auto& asic_id = census.driver->devices[i].asic_id) {
            asic_ids.push_back(*asic_id);
        }
    }
    for (const TotalsOnly& process : census.totals_only) {
        for (const DeviceTotals& device : process.devices) {
            asic_ids.push_back(device.asic_id);
        }
    }
    ids_->meet(std::move(asic_ids));
}

DeviceTable::DeviceTable(const Census& census, const std::vector<Report>& reports) : ids_(census.device_ids) {
    number_all(census, reports);
    std::map<uint32_t, Device> by_id;
    for (const auto& [id, claim] : best_claims(*ids_, reports)) {
        by_id[id].info = *claim.info;
    }
    // The best word may be of one who knows the device by its number alone.
    for (const uint64_t asic_id : asic_ids_in(reports)) {
        by_id[ids_->id_of(asic_id)].info.asic_id = asic_id;
    }
    for (const TotalsOnly& process : census.totals_only) {
        for (const DeviceTotals& device : process.devices) {
            by_id[ids_->id_of(device.asic_id)].info.asic_id = device.asic_id;
        }
    }
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        const DriverDevice& device = census.driver->devices[i];
        by_id[id_of(device)].driver = &device;
        by_id[id_of(device)].info.asic_id = device.asic_id.value_or(by_id[id_of(device)].info.asic_id);
    }
    for (auto& [id, device] : by_id) {
        device.id = id;
        position_by_id_[id] = devices_.size();
        devices_.push_back(device);
    }
    for (const Report& report : reports) {
        auto& positions = position_.emplace_back();
        for (const auto& info : report.devices) {
            positions.push_back(info ? std::optional(position_by_id_.at(census::id_of(*ids_, *info)))
                                     : std::nullopt);
        }
    }
}

std::vector<size_t> DeviceTable::positions(size_t report, uint64_t members) const {
    std::vector<size_t> result;
    for (size_t entry = 0; entry < position_[report].size(); ++entry) {
        if ((members >> entry & 1) != 0 && position_[report][entry]) {
            result.push_back(*position_[report][entry]);
        }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

}  // namespace ttmem::census
