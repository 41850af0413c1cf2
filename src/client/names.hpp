// SPDX-License-Identifier: Apache-2.0
#pragma once

// Interning: each string once, by its place in the tree of names. A name that is known is found without a lock.

#include "client/state.hpp"

namespace ttmem::client {

// The id of `text` inside the name `parent`; 0 where the table is full (counted) or the text is empty.
uint32_t intern_name(State& state, const char* text, uint32_t parent);

// The id of a core mask; 0 where there is none or the table is full (counted).
uint16_t intern_cores(State& state, const ttmem_cores* cores);

}  // namespace ttmem::client
