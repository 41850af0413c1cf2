// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which devices of processes are shown. A process may report any number of devices that do not exist, so the devices of
// each user are limited: entries, members of sets, and devices that the driver does not list.

#include <cstdint>
#include <map>
#include <vector>

#include "census/device_ids.hpp"
#include "census/report.hpp"

namespace ttmem::census {

struct AdmittedDevices {
    std::vector<std::vector<bool>> entries;  // by report and entry of its device table
    std::map<DeviceKey, uint32_t> ids;       // includes those of the driver
};

// Processes use the share of their user in the order of their start. A device that several users report counts against
// the one with the most room, so no user can keep out a device of another.
AdmittedDevices admit_devices(const Census& census, const std::vector<Report>& reports);

// Gives all devices of a census their numbers, so that they have the same ones in every part of it.
void number_all_devices(const Census& census);

}  // namespace ttmem::census
