// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <algorithm>

namespace ttmem::census {

void DeviceIds::place(const std::vector<std::pair<uint64_t, uint32_t>>& ids_by_asic_id) {
    const std::lock_guard lock(mutex_);
    for (const auto& [asic_id, id] : ids_by_asic_id) {
        if (placed_.size() < kMost) {
            placed_.insert(asic_id);
        }
        const bool is_taken = std::any_of(
            ids_.begin(), ids_.end(), [&, wanted = id](const auto& known) { return known.second == wanted; });
        if (ids_.size() < kMost && !is_taken && ids_.try_emplace(asic_id, id).second) {
            next_ = std::max(next_, id + 1);
        }
    }
}

bool DeviceIds::was_placed(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    return placed_.contains(asic_id);
}

void DeviceIds::leave_free(uint32_t below) {
    const std::lock_guard lock(mutex_);
    next_ = std::max(next_, below);
}

void DeviceIds::meet(std::vector<uint64_t> asic_ids) {
    std::sort(asic_ids.begin(), asic_ids.end());
    const std::lock_guard lock(mutex_);
    for (const uint64_t asic_id : asic_ids) {
        if (ids_.size() < kMost && ids_.try_emplace(asic_id, next_).second) {
            ++next_;
        }
    }
}

uint32_t DeviceIds::id_of(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(asic_id);
    return found != ids_.end() ? found->second
                               : 0x8000'0000u | static_cast<uint32_t>(asic_id ^ asic_id >> 32);
}

std::vector<std::optional<uint32_t>> device_ids_of(
    const std::vector<std::optional<ttmem_device_info>>& devices, DeviceIds& ids) {
    std::vector<uint64_t> asic_ids;
    for (const auto& info : devices) {
        if (info && info->asic_id != 0) {
            asic_ids.push_back(info->asic_id);
        }
    }
    ids.meet(std::move(asic_ids));
    std::vector<std::optional<uint32_t>> result;
    result.reserve(devices.size());
    for (const auto& info : devices) {
        result.push_back(!info                ? std::nullopt
                         : info->asic_id != 0 ? std::optional(ids.id_of(info->asic_id))
                                              : std::optional(info->logical_id));
    }
    return result;
}

}  // namespace ttmem::census
