// SPDX-License-Identifier: Apache-2.0
#include "observer/metal.hpp"

#include <ttmem/ttmem.h>

#include <cstdio>
#include <new>

#include "observer/device_slots.hpp"
#include "observer/places_file.hpp"
#include "observer/relocations.hpp"

namespace ttmem::observer {

namespace {

constexpr char kMeshVtable[] = "_ZTVN2tt8tt_metal11distributed10MeshDeviceE";
constexpr char kChipVtable[] = "_ZTVN2tt8tt_metal6DeviceE";

template <class Function>
bool is_called(Function* function) {
    return is_called_through_linker(reinterpret_cast<const void*>(function));
}

// The first of the names that the runtime has.
template <class Function, class... Names>
Function* find_first(const Runtime& runtime, const Names*... names) {
    void* found = nullptr;
    ((found = found != nullptr ? found : runtime.find(names)), ...);
    return reinterpret_cast<Function*>(found);
}

// The result has four words. Older releases append a vector, which is the caller's to destroy. The runtime writes the
// result to the address that is passed first.
template <class Function, class Object>
BankStatistics call_statistics(Function* function, const Object* object, uint32_t kind) {
    uint64_t words[16] = {};
    function(words, object, static_cast<int>(kind));
    if (words[4] != 0) {
        operator delete(reinterpret_cast<void*>(words[4]));
    }
    return {words[0], words[1], words[2], words[3]};
}

}  // namespace

std::vector<metal::IDevice*> Metal::chips_of(const metal::IDevice* device) const {
    if (is_mesh(device)) {
        return mesh_devices(device);
    }
    return {const_cast<metal::IDevice*>(device)};
}

std::optional<std::pair<uint32_t, uint32_t>> Metal::shape_of(const metal::IDevice* device) const {
    if (!is_mesh(device) || mesh_rows == nullptr || mesh_columns == nullptr) {
        return std::nullopt;
    }
    try {
        return std::pair(static_cast<uint32_t>(mesh_rows(device)),
                         static_cast<uint32_t>(mesh_columns(device)));
    } catch (...) {
        return std::nullopt;  // the runtime throws unless a mesh has two dimensions
    }
}

BankStatistics Metal::statistics_of(const metal::Allocator* allocator, uint32_t kind) const {
    return call_statistics(allocator_statistics, allocator, kind);
}

// In older releases that object is the Allocator. In newer ones an Allocator is a view whose first word is its address.
const metal::Allocator* Metal::view_of(const void* allocating, const metal::IDevice* device) const {
    const metal::Allocator* view = allocator_of(device);
    return view != nullptr && value_at<const void*>(view, 0) == allocating ? view : nullptr;
}

std::optional<BankStatistics> Metal::statistics_of_allocating(const void* allocating,
                                                              const metal::IDevice* device,
                                                              uint32_t kind) const {
    if (originals.allocate_buffer == nullptr) {
        return statistics_of(static_cast<const metal::Allocator*>(allocating), kind);
    }
    if (allocator_impl_statistics != nullptr) {
        return call_statistics(allocator_impl_statistics, allocating, kind);
    }
    const metal::Allocator* view = view_of(allocating, device);
    return view != nullptr ? std::optional(statistics_of(view, kind)) : std::nullopt;
}

std::optional<uint32_t> Metal::banks_of_allocating(const void* allocating, const metal::IDevice* device,
                                                   uint32_t kind) const {
    if (originals.allocate_buffer == nullptr) {
        return allocator_banks(static_cast<const metal::Allocator*>(allocating), static_cast<int>(kind));
    }
    if (allocator_impl_banks != nullptr) {
        return allocator_impl_banks(allocating, static_cast<int>(kind));
    }
    const metal::Allocator* view = view_of(allocating, device);
    return view != nullptr ? std::optional(allocator_banks(view, static_cast<int>(kind))) : std::nullopt;
}

const char* look_up(const Runtime& runtime, Metal& found) {
#if !defined(__x86_64__)
    return "it is observed on x86-64 only";
#endif
    found.originals = runtime.originals;
    if (runtime.places != nullptr) {
        if (const char* unusable = read_places(runtime.places, found.places)) {
            return unusable;
        }
    }
#define TTMEM_LOOK_UP(name, type, needed, first_symbol, ...)                         \
    found.name = find_first<type>(runtime, first_symbol __VA_OPT__(, ) __VA_ARGS__); \
    if ((needed) && found.name == nullptr) {                                         \
        return "it has no " first_symbol;                                            \
    }
    TTMEM_METAL_FUNCTIONS(TTMEM_LOOK_UP)
#undef TTMEM_LOOK_UP
    const std::optional<Vtable> mesh = find_vtable(runtime, kMeshVtable);
    const std::optional<Vtable> chip = find_vtable(runtime, kChipVtable);
    if (!mesh || !chip) {
        return "it does not show the virtual functions of its devices";
    }
    const Functions& originals = runtime.originals;
    const bool are_marks_seen = is_called(originals.mark_address);
    found.is_dataflow_layout_seen = are_marks_seen && is_called(originals.allocate_dataflow_buffers);
    found.is_scratchpad_layout_seen = are_marks_seen && is_called(originals.allocate_scratchpads);
    found.are_kernel_arguments_seen = is_called(originals.kernel_arguments);
    found.mesh_vtable = mesh->functions;
    found.chip_vtable = chip->functions;
    static char problem[200];
    if (const char* function = find_bound_function(runtime.originals)) {
        snprintf(problem, sizeof problem, "its %s is not called through the dynamic linker", function);
        return problem;
    }
    if (const char* function = find_device_slots(runtime, *mesh, found.places.device)) {
        snprintf(problem, sizeof problem, "its devices differ: no certain place of %s", function);
        return problem;
    }
    return nullptr;
}

const char* difference_in(const Metal& metal, const metal::Buffer* buffer) {
    const void* vtable = first_word(metal.device_of(buffer));
    if (vtable == nullptr || (vtable != metal.mesh_vtable && vtable != metal.chip_vtable)) {
        return "the device of a buffer is not where other releases have it, or of an unknown class";
    }
    const uint32_t kind = metal.kind_of(buffer);
    if (kind > TTMEM_TRACE || metal.buffer_is_l1(buffer) != is_kind_in_l1(kind)) {
        return "the kind of a buffer is not where other releases have it";
    }
    const uint64_t page_size = metal.buffer_page_size(buffer);
    const auto pages = static_cast<uint32_t>(page_size == 0 ? 0 : metal.size_of(buffer) / page_size);
    if (metal.buffer_num_pages(buffer) != pages) {
        return "the size of a buffer is not where other releases have it";
    }
    return nullptr;
}

}  // namespace ttmem::observer
