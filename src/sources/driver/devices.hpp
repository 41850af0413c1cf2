// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/driver.hpp"

namespace ttmem::sources::driver {

// The state of a device in one read. Detecting whether its firmware is alive takes two reads.
struct DeviceReading {
    census::DriverDevice device;
    std::optional<uint32_t> heartbeat;
};

// Reads the devices that the driver shows below `sys` (/sys), ordered by id. A removed device is missing. A device that
// is being reset is present, with the values that it still reports. Returns nothing if no driver is loaded.
std::optional<std::vector<DeviceReading>> read_devices(const std::string& sys);

}  // namespace ttmem::sources::driver
