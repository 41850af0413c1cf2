// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/driver.hpp"

namespace ttmem::sources::driver {

// A device as it is at one look. Whether its heart beats takes two.
struct DeviceLook {
    census::DriverDevice device;
    std::optional<uint32_t> heartbeat;
};

// The devices that the driver shows below `sys` (/sys), by id. One that is gone is not among them; one that is
// being reset is, with what it still says. Nothing where no driver is loaded.
std::optional<std::vector<DeviceLook>> look_at_devices(const std::string& sys);

}  // namespace ttmem::sources::driver
