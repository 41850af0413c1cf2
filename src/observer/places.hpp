// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of what no function of the runtime gives: virtual functions in the vtable of a device, and fields of objects.
// An observer without headers searches for the places that differ between releases. The others have been the same in
// every release, and their values here are checked before they are used. An observer with headers takes all from them.

#include <cstddef>
#include <optional>

namespace ttmem::observer {

// Virtual functions, as numbers in the vtable.
struct DeviceSlots {
    size_t arch = 0;
    size_t id = 0;
    size_t l1_size_per_core = 0;
    size_t compute_grid = 0;
    size_t allocator = 0;
    size_t lowest_l1_address = 0;
};

// Fields, as offsets in bytes. Those of 0 are not known.
struct Places {
    std::optional<DeviceSlots> device;
    size_t buffer_device = 16;
    size_t buffer_size = 24;
    size_t buffer_kind = 32;
    size_t buffer_layout = 36;
    size_t buffer_id = 0;
    size_t queue_mesh = 8;
    size_t workload_program = 0;  // in a node of the map of programs
    // What a program reports of a kernel, and of each of its binaries.
    size_t kernel_size = 72;
    size_t kernel_source = 16;
    size_t kernel_binaries = 48;
    size_t binary_size = 16;
    size_t binary_bytes = 8;
};

// Defined once for observers with headers and once for the one without.
Places known_places();

}  // namespace ttmem::observer
