// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds virtual functions of devices. MeshDevice implements them in functions with known names, so the address of each is
// searched in MeshDevice's vtable. A chip has the same function at the same number.

#include <optional>

#include "observer/interposed.hpp"
#include "observer/places.hpp"

namespace ttmem::observer {

// A vtable of the runtime, without its header: the address that objects hold, and the number of functions.
struct Vtable {
    void* const* functions = nullptr;
    size_t count = 0;
};
std::optional<Vtable> find_vtable(const Runtime& runtime, const char* symbol);

// Null, or the name of the function that has no place, or more than one. A linker may fold equal functions, so one address
// can be at several places; the order of the functions, which is the same in every release, must leave one choice. Places
// that are known already are checked only.
const char* find_device_slots(const Runtime& runtime, const Vtable& mesh, std::optional<DeviceSlots>& slots);

}  // namespace ttmem::observer
