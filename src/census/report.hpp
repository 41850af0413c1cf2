// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each process says, side by side, and which device of one is which device of another.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "census/census.hpp"

namespace ttmem::census {

// One process's word about its devices and pools, read at one moment.
struct Report {
    const Process* process = nullptr;
    std::vector<std::optional<ttmem_device_info>> devices;  // by index of its device table
    segment::Totals totals;

    uint64_t members_of_open_sets() const;
};

std::vector<Report> read_reports(const Census& census);

// The devices of a host: those of the driver, and those that processes know. Who names the same ASIC id means the same device;
// who has no ASIC id for a device means the device of that number.
class DeviceTable {
public:
    struct Device {
        uint32_t id = 0;
        // As told by the process that has it open. If several have, the oldest is believed: a device has one owner at a
        // time, and who comes later must not change what is shown of him who is there.
        ttmem_device_info info{};
        const DriverDevice* driver = nullptr;  // of the census; absent: the driver does not know it
    };

    DeviceTable(const Census& census, const std::vector<Report>& reports);

    const std::vector<Device>& devices() const { return devices_; }  // by id

    // Where in devices() the members of a set of that report are, each once.
    std::vector<size_t> positions(size_t report, uint64_t members) const;

    // Where in devices() a device is that a process without a ledger, or the driver, knows.
    size_t position_of_asic(uint64_t asic_id) const { return position_by_id_.at(ids_->id_of(asic_id)); }
    size_t position_of(const DriverDevice& device) const { return position_by_id_.at(id_of(device)); }

    // Where in devices() an entry of that report's device table is; nothing where it could not be read.
    std::optional<size_t> position(size_t report, size_t entry) const { return position_[report][entry]; }

private:
    uint32_t id_of(const DriverDevice& device) const;
    void number_all(const Census& census, const std::vector<Report>& reports);

    std::shared_ptr<DeviceIds> ids_;
    std::map<uint32_t, size_t> position_by_id_;
    std::vector<Device> devices_;
    std::vector<std::vector<std::optional<size_t>>> position_;  // by report and entry of its device table
};

}  // namespace ttmem::census
