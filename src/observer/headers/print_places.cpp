// SPDX-License-Identifier: Apache-2.0

// Prints the places from the headers of one tt-metal, with which 'ttmem observer build' compiles it. An inline function of a
// class with private fields shows the place of its field when it is called on an object in which each word is its own
// offset. Nothing of tt-metal is linked, so no other function may be called.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <utility>

#include "observer/places.hpp"

namespace ttmem::observer {

namespace {

using namespace tt::tt_metal;  // NOLINT(google-build-using-namespace): all of this file is about its classes

template <class Class>
class NumberedObject {
public:
    NumberedObject() {
        for (uint32_t at = 0; at + sizeof at <= sizeof memory_; at += static_cast<uint32_t>(sizeof at)) {
            std::memcpy(memory_ + at, &at, sizeof at);
        }
    }
    const Class& object() const { return *reinterpret_cast<const Class*>(memory_); }

private:
    alignas(Class) unsigned char memory_[sizeof(Class)];
};

// The lower half of a value that was read from such an object.
template <class Value>
size_t place_of(const Value& value) {
    uint32_t place = 0;
    std::memcpy(&place, &value, sizeof place);
    return place;
}

// The number of a virtual function, from its pointer. Refers to no symbol.
template <class Method>
size_t slot_of(Method method) {
    std::uintptr_t words[2];
    static_assert(sizeof method == sizeof words);
    std::memcpy(words, &method, sizeof words);
    return (words[0] - 1) / sizeof(void*);
}

DeviceSlots device_slots() {
    using ThisAllocator = const std::unique_ptr<Allocator>& (IDevice::*)() const;
    DeviceSlots slots;
    slots.arch = slot_of(&IDevice::arch);
    slots.id = slot_of(&IDevice::id);
    slots.l1_size_per_core = slot_of(&IDevice::l1_size_per_core);
    slots.compute_grid = slot_of(&IDevice::compute_with_storage_grid_size);
    slots.allocator = slot_of(static_cast<ThisAllocator>(&IDevice::allocator));
    using LowestAddress = std::optional<DeviceAddr> (IDevice::*)() const;
    slots.lowest_l1_address =
        slot_of(static_cast<LowestAddress>(&IDevice::lowest_occupied_compute_l1_address));
    return slots;
}

Places places_of_headers() {
    Places places;
    places.device = device_slots();
    const NumberedObject<Buffer> numbered;
    const Buffer& buffer = numbered.object();
    places.buffer_device = place_of(buffer.device());
    places.buffer_size = place_of(buffer.size());
    places.buffer_kind = place_of(buffer.buffer_type());
    places.buffer_layout = place_of(buffer.buffer_layout());
    places.buffer_id = place_of(buffer.unique_id());
    const NumberedObject<distributed::MeshCommandQueue> queue;
    places.queue_mesh = place_of(queue.object().device());
    // In a node the next one comes first, then the pair.
    using ProgramNode = std::pair<const distributed::MeshCoordinateRange, Program>;
    places.workload_program = sizeof(void*) + offsetof(ProgramNode, second);
    places.kernel_size = sizeof(detail::KernelMeta);
    places.kernel_source = offsetof(detail::KernelMeta, source);
    places.kernel_binaries = offsetof(detail::KernelMeta, binary_meta);
    places.binary_size = sizeof(detail::KernelBinaryMeta);
    places.binary_bytes = offsetof(detail::KernelBinaryMeta, packed_size);
    return places;
}

}  // namespace
}  // namespace ttmem::observer

int main() {
    const ttmem::observer::Places places = ttmem::observer::places_of_headers();
#define TTMEM_PRINT(name) std::printf("%s %zu\n", #name, places.device->name);
    TTMEM_DEVICE_SLOTS(TTMEM_PRINT)
#undef TTMEM_PRINT
#define TTMEM_PRINT(name, usual) std::printf("%s %zu\n", #name, places.name);
    TTMEM_FIELDS(TTMEM_PRINT)
#undef TTMEM_PRINT
}
