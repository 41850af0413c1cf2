// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/state.hpp"

namespace ttmem::client {

// As ttmem_register_device() and ttmem_open_set(), inside a call.
ttmem_device register_device(State& state, const ttmem_device_info& info);
ttmem_set open_set(State& state, Thread& thread, uint64_t members, const char* label);

// The device that this process calls `logical_id`; one is made where there is none. 0: no room.
ttmem_device device_by_number(State& state, uint32_t logical_id);

}  // namespace ttmem::client
