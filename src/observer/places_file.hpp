// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "observer/places.hpp"

namespace ttmem::observer {

// Reads a file that 'ttmem observer build' has written. Returns null, or why it can't be used: it must have every place once,
// and belong to this user or to root.
const char* read_places(const char* path, Places& places);

}  // namespace ttmem::observer
