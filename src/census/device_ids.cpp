// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ttmem::census {

namespace {

using KeyType = DeviceKey::KeyType;

constexpr size_t kMostOfDriver = 4096;
// The driver numbers its devices from 0. A number beyond this is reserved alone, without all those below.
constexpr uint32_t kMostReserved = 65'536;

bool is_described(const ttmem_device_info& info) {
    return info.arch != TTMEM_ARCH_UNKNOWN || info.grid_x != 0 || info.grid_y != 0 || info.board[0] != '\0' ||
           std::any_of(std::begin(info.memory), std::end(info.memory), [](const ttmem_memory_info& memory) {
               return memory.banks != 0 || memory.capacity != 0;
           });
}

}  // namespace

DeviceKey key_of(const ttmem_device_info& info) {
    if (info.asic_id != 0) {
        return asic_key(info.asic_id);
    }
    return is_described(info) ? unnamed_key(info.logical_id) : DeviceKey{KeyType::number, info.logical_id};
}

DeviceKey key_of(const DriverDevice& device) {
    return device.asic_id ? asic_key(*device.asic_id) : unnamed_key(device.id);
}

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

void DeviceIds::add(const DeviceKey& key, uint32_t id, uint64_t now_ns) {
    assert(!known_.contains(key) && !taken_.contains(id) && key.type != KeyType::number);
    taken_.emplace(id, key);
    known_.emplace(key, Known{id, std::nullopt, now_ns, false});
}

bool DeviceIds::remove_unseen(uint64_t now_ns) {
    const size_t before = known_.size();
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
    return known_.size() != before;
}

uint32_t DeviceIds::lowest_free_id(uint64_t now_ns) const {
    const auto is_named = [&](uint32_t id) {
        return id < named_ns_.size() && named_ns_[id] && now_ns - std::min(now_ns, *named_ns_[id]) <= kKeptNs;
    };
    uint32_t id = first_free_id_;
    while (taken_.contains(id) || is_named(id)) {
        ++id;  // shares bound the number of ids, so this does not wrap
    }
    return id;
}

void DeviceIds::save() const {
    if (!save_) {
        return;
    }
    std::vector<DeviceNumber> numbers;
    numbers.reserve(taken_.size());
    for (const auto& [id, key] : taken_) {
        numbers.push_back({key, id, known_.at(key).charged_to});
    }
    save_(numbers);
}

void DeviceIds::set_save(Save save) {
    const std::lock_guard lock(mutex_);
    save_ = std::move(save);
}

void DeviceIds::restore(const std::vector<DeviceNumber>& numbers, bool is_shared) {
    const std::lock_guard lock(mutex_);
    const uint64_t now_ns = clock_();
    for (const DeviceNumber& number : numbers) {
        if (number.key.type == KeyType::number || known_.contains(number.key) || taken_.contains(number.id) ||
            (number.charged_to && !has_room(*number.charged_to))) {
            continue;
        }
        add(number.key, number.id, now_ns);
        Known& device = known_.at(number.key);
        charge(device, number.charged_to);
        device.is_shared = is_shared;
        if (!number.charged_to && number.key.type == KeyType::asic_id) {
            driver_asic_ids_.insert(number.key.value);
        }
    }
}

void DeviceIds::set_driver_devices(const std::vector<DriverDevice>& devices) {
    const std::lock_guard lock(mutex_);
    if (take_driver_devices(devices, clock_())) {
        save();
    }
}

bool DeviceIds::take_driver_devices(const std::vector<DriverDevice>& devices, uint64_t now_ns) {
    std::map<DeviceKey, uint32_t> wanted;
    for (const DriverDevice& device : devices) {
        if (device.id < kMostReserved) {
            first_free_id_ = std::max(first_free_id_, device.id + 1);
        }
        if (device.asic_id && driver_asic_ids_.size() < kMostOfDriver) {
            driver_asic_ids_.insert(*device.asic_id);
        }
        if (wanted.size() < kMostOfDriver) {
            wanted.emplace(key_of(device), device.id);
        }
    }
    bool has_changed = false;
    for (const auto& [key, id] : wanted) {
        const auto found = known_.find(key);
        if (found != known_.end() && found->second.id != id) {
            taken_.erase(found->second.id);
        }
    }
    std::vector<DeviceKey> displaced;
    for (const auto& [key, id] : wanted) {
        const auto holder = taken_.find(id);
        if (holder != taken_.end() && holder->second != key) {
            displaced.push_back(holder->second);
            taken_.erase(holder);
        }
        Known& device = known_[key];
        has_changed = taken_.emplace(id, key).second || device.charged_to || has_changed;
        charge(device, std::nullopt);
        device.id = id;
        device.seen_ns = now_ns;
    }
    for (const DeviceKey& key : displaced) {
        Known& device = known_.at(key);
        device.id = lowest_free_id(now_ns);
        device.is_shared = false;
        taken_.emplace(device.id, key);
    }
    return has_changed;
}

bool DeviceIds::was_listed_by_driver(uint64_t asic_id) const {
    const std::lock_guard lock(mutex_);
    return driver_asic_ids_.contains(asic_id);
}

bool DeviceIds::take_reported_devices(const std::vector<ReportedDevice>& devices, uint64_t now_ns) {
    for (const ReportedDevice& device : devices) {
        if (device.key.type == KeyType::number && device.key.value < named_ns_.size()) {
            named_ns_[device.key.value] = now_ns;
        }
    }
    bool has_changed = false;
    for (const ReportedDevice& device : devices) {
        if (device.key.type == KeyType::number) {
            continue;
        }
        auto found = known_.find(device.key);
        if (found == known_.end()) {
            if (!has_room(device.uid)) {
                continue;
            }
            const bool has_own_number = device.logical_id < kMostLogicalIds && is_free(device.logical_id);
            add(device.key, has_own_number ? device.logical_id : lowest_free_id(now_ns), now_ns);
            found = known_.find(device.key);
            charge(found->second, device.uid);
            has_changed = true;
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
    }
    return has_changed;
}

std::map<DeviceKey, uint32_t> DeviceIds::assign(const std::vector<ReportedDevice>& devices,
                                                const std::vector<DriverDevice>& driver) {
    const std::lock_guard lock(mutex_);
    const uint64_t now_ns = clock_();
    bool has_changed = remove_unseen(now_ns);
    has_changed = take_driver_devices(driver, now_ns) || has_changed;
    has_changed = take_reported_devices(devices, now_ns) || has_changed;
    if (has_changed) {
        save();
    }
    std::map<DeviceKey, uint32_t> result;
    const auto add_result = [&](const DeviceKey& key) {
        if (key.type == KeyType::number) {
            result.emplace(key, static_cast<uint32_t>(key.value));
        } else if (const auto found = known_.find(key); found != known_.end()) {
            result.emplace(key, found->second.id);
        }
    };
    for (const DriverDevice& device : driver) {
        add_result(key_of(device));
    }
    for (const ReportedDevice& device : devices) {
        add_result(device.key);
    }
    return result;
}

std::optional<uint32_t> DeviceIds::id_of(const DeviceKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional(found->second.id);
}

bool DeviceIds::is_shared(const DeviceKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found != known_.end() && (found->second.is_shared || !found->second.charged_to);
}

std::vector<std::optional<NumberedDevice>> number_devices(
    const std::vector<std::optional<ttmem_device_info>>& devices, uint32_t uid, DeviceIds& ids) {
    std::vector<ReportedDevice> reported;
    for (const auto& info : devices) {
        if (info) {
            reported.push_back({key_of(*info), info->logical_id, uid});
        }
    }
    const std::map<DeviceKey, uint32_t> assigned = ids.assign(reported);
    std::vector<std::optional<NumberedDevice>> result;
    result.reserve(devices.size());
    for (const auto& info : devices) {
        const auto found = info ? assigned.find(key_of(*info)) : assigned.end();
        result.push_back(found == assigned.end()
                             ? std::nullopt
                             : std::optional(NumberedDevice{found->second, info->logical_id}));
    }
    return result;
}

}  // namespace ttmem::census
