// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// A process of this user reports the device.
struct ReportedDevice {
    uint64_t asic_id = 0;
    uint32_t uid = 0;

    auto operator<=>(const ReportedDevice&) const = default;
};

// The public ids of devices: the number in /dev/tenstorrent if the driver knows the device, else the lowest free
// number. A device keeps its id until nothing has reported it for kKeptNs. A device without an ASIC id keeps its own
// number as its id and is not stored here. Thread-safe.
//
// A process may invent devices, so each user has a share. A device counts against one of the users that report it, the
// one with the fewest devices, so a real device finds room if one user does. Devices of the driver count against nobody.
class DeviceIds {
public:
    using MonotonicClock = std::function<uint64_t()>;  // nanoseconds, never goes back

    static constexpr size_t kMostPerUser = 256;
    static constexpr uint64_t kKeptNs = 600 * base::kNsPerSecond;

    DeviceIds() : DeviceIds(base::monotonic_ns) {}
    explicit DeviceIds(MonotonicClock clock) : clock_(std::move(clock)) {}

    // Adds the driver's devices and their numbers. Known devices keep their ids.
    void add_driver_ids(const std::vector<std::pair<uint64_t, uint32_t>>& ids_by_asic_id);

    // Whether the driver ever listed the device. Such a device is not remote, even after it has left the bus.
    bool was_listed_by_driver(uint64_t asic_id) const;

    // Reserves this number of the driver and all lower ones for devices that the driver lists.
    void reserve_up_to(uint32_t driver_id);

    // Returns the ids of the devices by ASIC id. New devices get the next ids, in the order of their ASIC ids; there is
    // none for a device that only users report whose share is used up.
    std::map<uint64_t, uint32_t> assign(std::vector<ReportedDevice> devices);
    std::map<uint64_t, uint32_t> assign(const std::vector<uint64_t>& asic_ids, uint32_t uid);

    // Empty if the device is not known.
    std::optional<uint32_t> id_of(uint64_t asic_id) const;

private:
    struct Known {
        uint32_t id = 0;
        std::optional<uint32_t> charged_to;  // a uid; absent: the driver lists the device
        uint64_t seen_ns = 0;
    };

    bool has_room(uint32_t uid) const;
    void charge(Known& device, std::optional<uint32_t> uid);
    void remove_unseen(uint64_t now_ns);
    uint32_t lowest_free_id() const;

    const MonotonicClock clock_;
    mutable std::mutex mutex_;
    std::map<uint64_t, Known> known_;  // by ASIC id
    std::set<uint32_t> taken_;         // the ids of `known_`
    std::map<uint32_t, size_t> charges_;
    std::set<uint64_t> driver_asic_ids_;
    uint32_t first_free_id_ = 0;
};

// The ids of the entries of a process's device table. Empty for entries that could not be read, and for devices beyond
// the share of the user.
std::vector<std::optional<uint32_t>> device_ids_of(
    const std::vector<std::optional<ttmem_device_info>>& devices, uint32_t uid, DeviceIds& ids);

}  // namespace ttmem::census
