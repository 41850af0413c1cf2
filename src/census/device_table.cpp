// SPDX-License-Identifier: Apache-2.0
#include "census/device_table.hpp"

#include <algorithm>
#include <cassert>

#include "census/device_admission.hpp"

namespace ttmem::census {

std::optional<size_t> DeviceTable::position_of_asic(uint64_t asic_id) const {
    const auto found = ids_.find(asic_key(asic_id));
    return found == ids_.end() ? std::nullopt : std::optional(position_by_id_.at(found->second));
}

uint32_t DeviceTable::id_of(const DriverDevice& device) const {
    const auto found = ids_.find(key_of(device));
    return found == ids_.end() ? device.id : found->second;  // more than the table of numbers holds
}

DeviceTable::DeviceTable(const Census& census, const std::vector<Report>& reports) {
    AdmittedDevices admitted = admit_devices(census, reports);
    ids_ = std::move(admitted.ids);
    std::map<uint32_t, Device> by_id;
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        const DriverDevice& device = census.driver->devices[i];
        by_id[id_of(device)].driver = &device;
    }
    std::map<uint32_t, std::vector<DeviceClaim>> claims;
    for (size_t report = 0; report < reports.size(); ++report) {
        const Identity& identity = reports[report].process->identity;
        const uint64_t open = reports[report].members_of_open_sets();
        uint64_t& left_out = left_out_.emplace_back(0);
        for (size_t entry = 0; entry < reports[report].devices.size(); ++entry) {
            const auto& info = reports[report].devices[entry];
            if (info && admitted.entries[report][entry]) {
                claims[ids_.at(key_of(*info))].push_back(
                    {&*info, identity.uid, identity.pid, identity.start_time, (open >> entry & 1) != 0});
            } else {
                left_out += info ? 1u : 0u;
            }
        }
    }
    for (const auto& [id, of_device] : claims) {
        Device& device = by_id[id];
        const DeviceDecision decision = decide(of_device, device.driver);
        device.info = *decision.info;
        device.dispute = decision.dispute;
    }
    // The chosen description may come from a process that does not know the ASIC id.
    for (const auto& [key, id] : ids_) {
        if (key.type == DeviceKey::KeyType::asic_id) {
            by_id[id].info.asic_id = key.value;
        }
    }
    for (auto& [id, device] : by_id) {
        device.id = id;
        position_by_id_[id] = devices_.size();
        devices_.push_back(device);
    }
    for (size_t report = 0; report < reports.size(); ++report) {
        auto& positions = position_.emplace_back();
        for (size_t entry = 0; entry < reports[report].devices.size(); ++entry) {
            const auto& info = reports[report].devices[entry];
            positions.push_back(info && admitted.entries[report][entry]
                                    ? std::optional(position_by_id_.at(ids_.at(key_of(*info))))
                                    : std::nullopt);
        }
    }
}

std::vector<size_t> DeviceTable::positions(size_t report, uint64_t members) const {
    assert(report < position_.size());
    assert(position_[report].size() <= segment::kMaxDevices);  // one bit of `members` each
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
