// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "census/driver.hpp"
#include "segment/limits.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// What a device is recognised by.
struct DeviceKey {
    enum class KeyType : uint8_t {
        asic_id,
        unnamed,  // a chip without a known ASIC id; `value` is the number that the driver or its process gives it
        number,  // only a number is known: it is the device with that id, whichever that is
    };
    KeyType type = KeyType::asic_id;
    uint64_t value = 0;

    auto operator<=>(const DeviceKey&) const = default;
};

constexpr DeviceKey asic_key(uint64_t asic_id) { return {DeviceKey::KeyType::asic_id, asic_id}; }
constexpr DeviceKey unnamed_key(uint32_t number) { return {DeviceKey::KeyType::unnamed, number}; }

// An entry without an ASIC id is a chip of its own if it describes one, else only a number.
DeviceKey key_of(const ttmem_device_info& info);
DeviceKey key_of(const DriverDevice& device);

// A process of this user reports the device.
struct ReportedDevice {
    DeviceKey key;
    uint32_t logical_id = 0;  // the process's number of it
    uint32_t uid = 0;
};

// A device and its public id.
struct DeviceNumber {
    DeviceKey key;
    uint32_t id = 0;
    std::optional<uint32_t> charged_to = {};  // a uid; absent: the driver lists the device

    bool operator==(const DeviceNumber&) const = default;
};

// The public ids of devices: the number in /dev/tenstorrent if the driver lists the device, else the number by which the first
// process that reports it calls it, else the lowest free number. A device keeps its id until nothing has reported it for
// kKeptNs, except that a number of the driver belongs to the driver's device at once. Thread-safe.
//
// A process may invent devices, so each user has a share. A device counts against one of the users that report it, the
// one with the fewest devices, so a real device finds room if one user does. Devices of the driver count against nobody.
class DeviceIds {
public:
    using MonotonicClock = std::function<uint64_t()>;  // nanoseconds, never goes back
    using Save = std::function<void(const std::vector<DeviceNumber>&)>;

    static constexpr size_t kMostPerUser = 256;
    static constexpr uint64_t kKeptNs = 600 * base::kNsPerSecond;
    // Processes may call a device by a larger number, which does not become its id.
    static constexpr uint32_t kMostLogicalIds = 1024;

    DeviceIds() : DeviceIds(base::monotonic_ns) {}
    explicit DeviceIds(MonotonicClock clock) : clock_(std::move(clock)) {}

    // The numbers of a table, which were not seen yet by this process. Those of a shared table are the numbers of other views
    // too. Numbers that contradict others are ignored.
    void restore(const std::vector<DeviceNumber>& numbers, bool is_shared);

    // `save` gets all numbers after each change, before anybody else sees the change. One call at a time.
    void set_save(Save save);

    // The driver's devices have the driver's numbers. Another device that has such a number gets a new one.
    void set_driver_devices(const std::vector<DriverDevice>& devices);

    // Whether the driver ever listed the device. Such a device is not remote, even after it has left the bus.
    bool was_listed_by_driver(uint64_t asic_id) const;

    // Returns the ids of the driver's devices and of those that processes report, all of one moment. New devices of processes
    // get ids in this order; there is none for a device that only users report whose share is used up.
    std::map<DeviceKey, uint32_t> assign(const std::vector<ReportedDevice>& devices,
                                         const std::vector<DriverDevice>& driver = {});

    // Empty if the device is not known.
    std::optional<uint32_t> id_of(const DeviceKey& key) const;

    // Whether every view has this number: it is the driver's, or that of a shared table.
    bool is_shared(const DeviceKey& key) const;

private:
    struct Known {
        uint32_t id = 0;
        std::optional<uint32_t> charged_to;  // a uid; absent: the driver lists the device
        uint64_t seen_ns = 0;
        bool is_shared = false;
    };

    bool has_room(uint32_t uid) const;
    void charge(Known& device, std::optional<uint32_t> uid);
    // These return whether a number has changed.
    bool take_driver_devices(const std::vector<DriverDevice>& devices, uint64_t now_ns);
    bool take_reported_devices(const std::vector<ReportedDevice>& devices, uint64_t now_ns);
    bool remove_unseen(uint64_t now_ns);
    uint32_t lowest_free_id(uint64_t now_ns) const;
    bool is_free(uint32_t id) const { return id >= first_free_id_ && !taken_.contains(id); }
    void add(const DeviceKey& key, uint32_t id, uint64_t now_ns);
    void save() const;

    const MonotonicClock clock_;
    mutable std::mutex mutex_;
    Save save_;
    std::map<DeviceKey, Known> known_;
    std::map<uint32_t, DeviceKey> taken_;  // the ids of `known_`
    std::map<uint32_t, size_t> charges_;
    std::set<uint64_t> driver_asic_ids_;
    uint32_t first_free_id_ = 0;  // lower ones are for the driver's devices
    // When a process last named a device by this number only. Another device gets the number only if its process calls it so.
    std::array<std::optional<uint64_t>, segment::kMaxDevices> named_ns_;
};

// A device of a process: its id, and what the process calls it.
struct NumberedDevice {
    uint32_t id = 0;
    uint32_t logical_id = 0;

    bool operator==(const NumberedDevice&) const = default;
};

// The devices of a process's device table. Empty for entries that could not be read, and for devices beyond the share of
// the user.
std::vector<std::optional<NumberedDevice>> number_devices(
    const std::vector<std::optional<ttmem_device_info>>& devices, uint32_t uid, DeviceIds& ids);

}  // namespace ttmem::census
