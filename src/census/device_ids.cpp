// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <algorithm>

namespace ttmem::census {

void DeviceIds::meet(std::vector<uint64_t> asic_ids) {
    std::sort(asic_ids.begin(), asic_ids.end());
    for (const uint64_t asic_id : asic_ids) {
        ids_.try_emplace(asic_id, static_cast<uint32_t>(ids_.size()));
    }
}

}  // namespace ttmem::census
