// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who decides what a device is. A process may describe any device in any way, so the driver's word comes first, then
// the description that most users agree on, then the oldest process's.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/driver.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// One process's description of a device.
struct DeviceClaim {
    const ttmem_device_info* info = nullptr;
    uint32_t uid = 0;
    uint32_t pid = 0;
    uint64_t start_time = 0;
    bool is_open = false;  // the process has the device open
};

// Descriptions that differ in arch, board or the capacity of a kind. Processes of one user may differ in capacities:
// the sizes of L1_SMALL and of the trace region are chosen when a device is opened.
struct DeviceDispute {
    uint32_t pid = 0;             // the oldest process that differs
    bool is_with_driver = false;  // else with processes of other users
    uint64_t users = 0;           // whose descriptions differ
};

struct DeviceDecision {
    const ttmem_device_info* info = nullptr;  // of the chosen claim; null if there is none
    std::optional<DeviceDispute> dispute;
};

// `driver` is null for a device that the driver does not list.
DeviceDecision decide(const std::vector<DeviceClaim>& claims, const DriverDevice* driver);

}  // namespace ttmem::census
