// SPDX-License-Identifier: Apache-2.0
#pragma once

// The devices and meshes seen so far, each with its set. The first event on a device opens its set; closing the device
// closes it. Thread-safe.

#include <ttmem/ttmem.h>

#include <array>
#include <functional>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

struct ObservedSet {
    ttmem_set set = 0;
    uint32_t rounding = 1;            // every reservation in a bank is a multiple of this
    std::array<uint32_t, 5> banks{};  // by kind
};

class Sets {
public:
    // `forget` removes what is kept of records in sets that are closed all at once.
    Sets(const Metal& metal, std::function<void()> forget) : metal_(metal), forget_(std::move(forget)) {}

    // Empty if nothing is to be recorded. Calls the device, which must be open.
    std::optional<ObservedSet> of(const metal::IDevice* device);

    // For a device that may be gone: uses only its address.
    std::optional<ObservedSet> known(const metal::IDevice* device) const;

    // Removes the set and everything in it; for a chip also the sets of its meshes. Uses only the address. Returns the closed
    // sets.
    struct ClosedSet {
        const metal::IDevice* device;
        ttmem_set set;
    };
    std::vector<ClosedSet> close(const metal::IDevice* device);

    // Changes whenever a set is opened or closed, and never repeats in the process.
    uint64_t state() const { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE); }

    // Stays inactive, without a message, if the process has another reporter: it is tracked then.
    void find_other_reporter();

    // Stops recording and removes all records. The figures of a process that has a segment are inexact from then on.
    void disable(const char* why);
    bool is_disabled() const;

private:
    static uint64_t next_state();
    std::optional<ObservedSet> open(const metal::IDevice* device);
    void close_all();
    ttmem_device register_chip(const metal::IDevice* chip) const;
    uint64_t asic_id_of(const metal::IDevice* chip) const;

    void change_state();

    const Metal& metal_;
    const std::function<void()> forget_;

    mutable std::shared_mutex mutex_;
    uint64_t state_ = next_state();
    struct OpenSet {
        ObservedSet set;
        std::vector<metal::IDevice*> chips;
    };
    std::unordered_map<const metal::IDevice*, OpenSet> sets_;
    bool is_disabled_ = false;
    bool opened_ = false;  // a set was opened, so one segment of this process is ours
};

}  // namespace ttmem::observer
