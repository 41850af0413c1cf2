// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem::census {

// The numbers by which people call devices: that of /dev/tenstorrent where the driver knows the device, else an ordinal by ASIC
// id. A number once given stays, so whoever keeps this object
// never renumbers. A device that is known by its number alone needs none from here: it is the one with that number. Several
// threads may use it at the same time.
class DeviceIds {
public:
    // The driver's numbers. A device that was met before keeps the number that it has.
    void place(const std::vector<std::pair<uint64_t, uint32_t>>& ids_by_asic_id);

    // Whether the driver ever knew it: then it is not behind another chip, also when it has left the bus.
    bool was_placed(uint64_t asic_id) const;

    // No other device gets these numbers: the driver has given them to devices of which it does not tell the ASIC id.
    void leave_free(uint32_t below);

    // Numbers the devices that are new, in the order of their ASIC ids, with the numbers after those given so far.
    void meet(std::vector<uint64_t> asic_ids);

    // Of a device that was met. So that nobody can fill this up by making up devices, the first kMost are remembered; the number
    // of another one is made of its ASIC id, above all others.
    static constexpr size_t kMost = 4096;
    uint32_t id_of(uint64_t asic_id) const;

private:
    mutable std::mutex mutex_;
    std::map<uint64_t, uint32_t> ids_;
    std::set<uint64_t> placed_;
    uint32_t next_ = 0;
};

// What the entries of a process's device table are called here; nothing for one that could not be read.
std::vector<std::optional<uint32_t>> device_ids_of(
    const std::vector<std::optional<ttmem_device_info>>& devices, DeviceIds& ids);

}  // namespace ttmem::census
