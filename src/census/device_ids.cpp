// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <algorithm>

namespace ttmem::census {

void DeviceIds::meet(std::vector<uint64_t> asic_ids) {
    std::sort(asic_ids.begin(), asic_ids.end());
    const std::lock_guard lock(mutex_);
    for (const uint64_t asic_id : asic_ids) {
        ids_.try_emplace(asic_id, static_cast<uint32_t>(ids_.size()));
    }
}

uint32_t DeviceIds::id_of(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    return ids_.at(asic_id);
}

}  // namespace ttmem::census
