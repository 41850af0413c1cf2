// SPDX-License-Identifier: Apache-2.0
#pragma once

// The devices and meshes that have been seen, each with its set. A set is opened by the first event on its device and
// closed with it. Any thread.

#include <ttmem/ttmem.h>

#include <array>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

struct DeviceSet {
    ttmem_set set = 0;
    std::uint32_t rounding = 1;            // what the allocator takes in a bank is a multiple of this
    std::array<std::uint32_t, 5> banks{};  // by kind
};

class Sets {
public:
    explicit Sets(const Metal& metal) : metal_(metal) {}

    // Nothing where nothing is to be recorded. Calls the device, which must be open.
    std::optional<DeviceSet> of(const metal::IDevice* device);

    // Of a device that may be gone: only its address is looked at.
    std::optional<DeviceSet> known(const metal::IDevice* device) const;

    // Everything in its set is gone, and so is the set; with a chip also those of the meshes that it is in. Only its address
    // is looked at. What was closed.
    struct Closed {
        const metal::IDevice* device;
        ttmem_set set;
    };
    std::vector<Closed> close(const metal::IDevice* device);

    // Stands aside, in silence, where the process has a reporter of its own: it is tracked then.
    void look_for_other_reporter();

    // From now on nothing is recorded, and what was is gone.
    void stand_aside(const char* why);
    bool stands_aside() const;

private:
    std::optional<DeviceSet> open(const metal::IDevice* device);
    void close_all();
    ttmem_device register_chip(const metal::IDevice* chip) const;
    std::uint64_t asic_id_of(const metal::IDevice* chip) const;

    const Metal& metal_;
    mutable std::shared_mutex mutex_;
    struct Open {
        DeviceSet set;
        std::vector<metal::IDevice*> chips;
    };
    std::unordered_map<const metal::IDevice*, Open> sets_;
    bool aside_ = false;
    bool opened_ = false;  // one was: one segment of this process is ours
};

}  // namespace ttmem::observer
