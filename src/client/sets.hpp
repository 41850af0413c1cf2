// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/state.hpp"

namespace ttmem::client {

// The members of a set: entries of the device table, each once, in the order in which they were given.
struct Members {
    uint64_t mask = 0;
    uint32_t count = 0;
    uint8_t order[segment::kMaxDevices] = {};

    void add(ttmem_device device) {
        const uint64_t bit = uint64_t{1} << (device - 1);
        if ((mask & bit) == 0) {
            mask |= bit;
            order[count++] = static_cast<uint8_t>(device - 1);
        }
    }
};

// As ttmem_register_device() and ttmem_open_set(), inside a call.
ttmem_device register_device(State& state, const ttmem_device_info& info);
ttmem_set open_set(State& state, Recorder& recorder, const Members& members, const char* label);

uint32_t device_count(const State& state);

// The entry of the device table. False: there is none yet.
bool read_device(const State& state, uint32_t index, ttmem_device_info& info);

// The entries that this process calls `logical_id`, as a mask: two where it has reopened the device as another chip.
uint64_t devices_called(const State& state, uint32_t logical_id);

// The device that this process calls `logical_id`; one is made where there is none. 0: no room.
ttmem_device device_by_number(State& state, uint32_t logical_id);

}  // namespace ttmem::client
