// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "census/census.hpp"
#include "census/device_claims.hpp"
#include "census/report.hpp"

namespace ttmem::census {

// The devices of a host: those of the driver and those of processes. Entries with the same key (census/device_ids.hpp) are
// the same device: the same ASIC id, or the same number of chips without one. An entry that has only a number is the device
// with that id.
//
// Processes may invent devices. Those beyond the share of a user (WorkBudgets, DeviceIds) are left out, and their
// entries have no position. A device that the driver lists, or that a user with room reports, is never left out.
class DeviceTable {
public:
    struct Device {
        uint32_t id = 0;
        ttmem_device_info info{};  // as decided by device_claims.hpp
        // Owned by the census; absent: unknown to the driver.
        const DriverDevice* driver = nullptr;
        std::optional<DeviceDispute> dispute;
    };

    DeviceTable(const Census& census, const std::vector<Report>& reports);

    const std::vector<Device>& devices() const { return devices_; }  // by id

    // The positions in devices() of the members of a set of that report, each once.
    std::vector<size_t> positions(size_t report, uint64_t members) const;

    // The position in devices() of a device that a process without a ledger reports. Empty if it was left out.
    std::optional<size_t> position_of_asic(uint64_t asic_id) const;
    size_t position_of(const DriverDevice& device) const { return position_by_id_.at(id_of(device)); }

    // The position in devices() of an entry of that report's device table. Empty if the entry could not be read or was
    // left out.
    std::optional<size_t> position(size_t report, size_t entry) const { return position_[report][entry]; }

    // The ids of the devices, and of the numbers that processes use for them.
    const std::map<DeviceKey, uint32_t>& ids() const { return ids_; }

    // The number of entries of that report's device table that were left out.
    uint64_t left_out(size_t report) const { return left_out_[report]; }

private:
    uint32_t id_of(const DriverDevice& device) const;

    std::map<DeviceKey, uint32_t> ids_;  // of the devices that were not left out
    std::map<uint32_t, size_t> position_by_id_;
    std::vector<Device> devices_;
    std::vector<std::vector<std::optional<size_t>>> position_;  // by report and entry of its device table
    std::vector<uint64_t> left_out_;                            // by report
};

}  // namespace ttmem::census
