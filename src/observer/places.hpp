// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of what no function of the runtime gives: virtual functions in the vtable of a device, and fields of objects.
// The observer searches for the places that differ between releases. The others have been the same in every release, and
// their values here are checked before they are used. A file of places, made from the headers of one tt-metal, replaces
// both. It has one "name value" per line.

#include <cstddef>
#include <optional>

namespace ttmem::observer {

// Virtual functions, as numbers in the vtable.
#define TTMEM_DEVICE_SLOTS(SLOT) \
    SLOT(arch)                   \
    SLOT(id)                     \
    SLOT(l1_size_per_core)       \
    SLOT(compute_grid)           \
    SLOT(allocator)              \
    SLOT(lowest_l1_address)

// Fields, as offsets in bytes, and sizes. Those of 0 are not known. workload_program is in a node of the map of programs;
// the last ones are what a program reports of a kernel, and of each of its binaries.
#define TTMEM_FIELDS(FIELD)    \
    FIELD(buffer_device, 16)   \
    FIELD(buffer_size, 24)     \
    FIELD(buffer_kind, 32)     \
    FIELD(buffer_layout, 36)   \
    FIELD(buffer_id, 0)        \
    FIELD(queue_mesh, 8)       \
    FIELD(workload_program, 0) \
    FIELD(kernel_size, 72)     \
    FIELD(kernel_source, 16)   \
    FIELD(kernel_binaries, 48) \
    FIELD(binary_size, 16)     \
    FIELD(binary_bytes, 8)

struct DeviceSlots {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration has no room for them.
#define TTMEM_MEMBER(name) size_t name = 0;
    TTMEM_DEVICE_SLOTS(TTMEM_MEMBER)
#undef TTMEM_MEMBER
};

struct Places {
    std::optional<DeviceSlots> device;
#define TTMEM_MEMBER(name, usual) size_t name = usual;
    // NOLINTEND(bugprone-macro-parentheses)
    TTMEM_FIELDS(TTMEM_MEMBER)
#undef TTMEM_MEMBER
};

}  // namespace ttmem::observer
