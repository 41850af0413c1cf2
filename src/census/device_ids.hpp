// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace ttmem::census {

// The numbers by which people call devices: ordinals by ASIC id. A number once given stays, so whoever keeps this object
// never renumbers. A device that is known by its number alone needs none from here: it is the one with that number.
class DeviceIds {
public:
    // Numbers the devices that are new, in the order of their ASIC ids, with the lowest numbers not yet given.
    void meet(std::vector<uint64_t> asic_ids);

    // Of a device that was met.
    uint32_t id_of(uint64_t asic_id) const { return ids_.at(asic_id); }

private:
    std::map<uint64_t, uint32_t> ids_;
};

}  // namespace ttmem::census
