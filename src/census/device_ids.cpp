// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <algorithm>
#include <cassert>

namespace ttmem::census {

namespace {

constexpr size_t kMostOfDriver = 4096;
// The driver numbers its devices from 0. A number beyond this is reserved alone, without all those below.
constexpr uint32_t kMostReserved = 65'536;

}  // namespace

bool DeviceIds::has_room(uint32_t uid) const {
    const auto found = charges_.find(uid);
    return found == charges_.end() || found->second < kMostPerUser;
}

void DeviceIds::charge(Known& device, std::optional<uint32_t> uid) {
    if (device.charged_to) {
        const auto found = charges_.find(*device.charged_to);
        assert(found != charges_.end() && found->second != 0);
        if (--found->second == 0) {
            charges_.erase(found);
        }
    }
    device.charged_to = uid;
    if (uid) {
        ++charges_[*uid];
    }
}

void DeviceIds::remove_unseen(uint64_t now_ns) {
    for (auto next = known_.begin(); next != known_.end();) {
        Known& device = next->second;
        if (now_ns <= device.seen_ns || now_ns - device.seen_ns <= kKeptNs) {
            ++next;
            continue;
        }
        charge(device, std::nullopt);
        taken_.erase(device.id);
        next = known_.erase(next);
    }
}

uint32_t DeviceIds::lowest_free_id() const {
    uint32_t id = first_free_id_;
    for (auto next = taken_.lower_bound(id); next != taken_.end() && *next == id; ++next) {
        ++id;  // shares bound the number of ids, so this does not wrap
    }
    return id;
}

void DeviceIds::add_driver_ids(const std::vector<std::pair<uint64_t, uint32_t>>& ids_by_asic_id) {
    const std::lock_guard lock(mutex_);
    const uint64_t now_ns = clock_();
    for (const auto& [asic_id, wanted] : ids_by_asic_id) {
        if (driver_asic_ids_.size() >= kMostOfDriver && !driver_asic_ids_.contains(asic_id)) {
            continue;
        }
        driver_asic_ids_.insert(asic_id);
        auto found = known_.find(asic_id);
        if (found == known_.end()) {
            const uint32_t id = taken_.contains(wanted) ? lowest_free_id() : wanted;
            taken_.insert(id);
            found = known_.emplace(asic_id, Known{id, std::nullopt, now_ns}).first;
        }
        charge(found->second, std::nullopt);
        found->second.seen_ns = now_ns;
    }
}

bool DeviceIds::was_listed_by_driver(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    return driver_asic_ids_.contains(asic_id);
}

void DeviceIds::reserve_up_to(uint32_t driver_id) {
    const std::lock_guard lock(mutex_);
    if (driver_id < kMostReserved) {
        first_free_id_ = std::max(first_free_id_, driver_id + 1);
    }
}

std::map<uint64_t, uint32_t> DeviceIds::assign(std::vector<ReportedDevice> devices) {
    std::sort(devices.begin(), devices.end());
    const std::lock_guard lock(mutex_);
    const uint64_t now_ns = clock_();
    remove_unseen(now_ns);
    std::map<uint64_t, uint32_t> result;
    for (const ReportedDevice& device : devices) {
        auto found = known_.find(device.asic_id);
        if (found == known_.end()) {
            if (!has_room(device.uid)) {
                continue;
            }
            const uint32_t id = lowest_free_id();
            taken_.insert(id);
            found = known_.emplace(device.asic_id, Known{id, std::nullopt, now_ns}).first;
            charge(found->second, device.uid);
        }
        Known& known = found->second;
        known.seen_ns = now_ns;
        // A device of two users counts against the one with fewer devices.
        if (known.charged_to && *known.charged_to != device.uid) {
            const auto own = charges_.find(device.uid);
            if (own == charges_.end() || own->second + 1 < charges_.at(*known.charged_to)) {
                charge(known, device.uid);
            }
        }
        result.emplace(device.asic_id, known.id);
    }
    return result;
}

std::map<uint64_t, uint32_t> DeviceIds::assign(const std::vector<uint64_t>& asic_ids, uint32_t uid) {
    std::vector<ReportedDevice> devices;
    devices.reserve(asic_ids.size());
    for (const uint64_t asic_id : asic_ids) {
        devices.push_back({asic_id, uid});
    }
    return assign(std::move(devices));
}

std::optional<uint32_t> DeviceIds::id_of(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(asic_id);
    return found == known_.end() ? std::nullopt : std::optional(found->second.id);
}

std::vector<std::optional<uint32_t>> device_ids_of(
    const std::vector<std::optional<ttmem_device_info>>& devices, uint32_t uid, DeviceIds& ids) {
    std::vector<ReportedDevice> reported;
    for (const auto& info : devices) {
        if (info && info->asic_id != 0) {
            reported.push_back({info->asic_id, uid});
        }
    }
    const std::map<uint64_t, uint32_t> assigned = ids.assign(std::move(reported));
    std::vector<std::optional<uint32_t>> result;
    result.reserve(devices.size());
    for (const auto& info : devices) {
        std::optional<uint32_t> id;
        if (info && info->asic_id == 0) {
            id = info->logical_id;
        } else if (info) {
            const auto found = assigned.find(info->asic_id);
            id = found == assigned.end() ? std::nullopt : std::optional(found->second);
        }
        result.push_back(id);
    }
    return result;
}

}  // namespace ttmem::census
