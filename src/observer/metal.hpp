// SPDX-License-Identifier: Apache-2.0
#pragma once

// The observer's queries to the runtime, without its headers. Exported functions are looked up by name, virtual functions
// are called by their place in the vtable, and fields are read at their places.

#include <ttmem/ttmem.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "observer/interposed.hpp"
#include "observer/memory.hpp"
#include "observer/places.hpp"

namespace ttmem::observer {

// Classes of the runtime. Their objects are passed on, and read only through the functions below.
namespace metal {
class Allocator;
class Buffer;
class CoreRangeSet;
class GraphTracker;
class IDevice;
class IGraphProcessor;
class MeshCommandQueue;
class MeshDeviceView;
class MeshWorkload;
class Program;
}  // namespace metal

// The types that its functions pass, as the releases lay them out.
struct CorePosition {
    size_t x = 0;
    size_t y = 0;
};
struct CoreRectangle {
    CorePosition first;
    CorePosition last;
};
struct FabricNode {
    uint32_t mesh;
    uint32_t chip;
};
struct ReturnedVector {
    char* begin;
    char* end;
    char* capacity;
};
using ProcessorPointer = std::shared_ptr<metal::IGraphProcessor>;
using ProcessorList = std::vector<ProcessorPointer>;

// name, type, whether the observer requires it, and its symbol in each release
#define TTMEM_METAL_FUNCTIONS(FUNCTION)                                                                     \
    FUNCTION(buffer_address, uint32_t(const metal::Buffer*), true, "_ZNK2tt8tt_metal6Buffer7addressEv")     \
    FUNCTION(buffer_page_size, uint64_t(const metal::Buffer*), true, "_ZNK2tt8tt_metal6Buffer9page_sizeEv") \
    FUNCTION(buffer_num_pages, uint32_t(const metal::Buffer*), true, "_ZNK2tt8tt_metal6Buffer9num_pagesEv") \
    FUNCTION(buffer_is_l1, bool(const metal::Buffer*), true, "_ZNK2tt8tt_metal6Buffer5is_l1Ev")             \
    FUNCTION(buffer_aligned_page_size, uint64_t(const metal::Buffer*), true,                                \
             "_ZNK2tt8tt_metal6Buffer17aligned_page_sizeEv")                                                \
    FUNCTION(buffer_size_per_bank, uint64_t(const metal::Buffer*), true,                                    \
             "_ZNK2tt8tt_metal6Buffer21aligned_size_per_bankEv")                                            \
    FUNCTION(buffer_next_id, uint64_t, false, "_ZN2tt8tt_metal6Buffer14next_unique_idE")                    \
    FUNCTION(allocator_banks, uint32_t(const metal::Allocator*, const int&), true,                          \
             "_ZNK2tt8tt_metal9Allocator13get_num_banksERKNS0_10BufferTypeE")                               \
    FUNCTION(allocator_impl_banks, uint32_t(const void*, const int&), false,                                \
             "_ZNK2tt8tt_metal13AllocatorImpl13get_num_banksERKNS0_10BufferTypeE")                          \
    FUNCTION(allocator_base, uint64_t(const metal::Allocator*, const uint8_t&), true,                       \
             "_ZNK2tt8tt_metal9Allocator23get_base_allocator_addrERKNS0_10HalMemTypeE")                     \
    FUNCTION(allocator_alignment, uint32_t(const metal::Allocator*, int), true,                             \
             "_ZNK2tt8tt_metal9Allocator13get_alignmentENS0_10BufferTypeE")                                 \
    FUNCTION(allocator_statistics, void(void* result, const metal::Allocator*, const int&), true,           \
             "_ZNK2tt8tt_metal9Allocator14get_statisticsERKNS0_10BufferTypeE")                              \
    FUNCTION(allocator_impl_statistics, void(void* result, const void*, const int&), false,                 \
             "_ZNK2tt8tt_metal13AllocatorImpl14get_statisticsERKNS0_10BufferTypeE")                         \
    FUNCTION(allocation_context, const std::string&(), false,                                               \
             "_ZN2tt8tt_metal26current_allocation_contextB5cxx11Ev")                                        \
    FUNCTION(mesh_devices, std::vector<metal::IDevice*>(const metal::IDevice*), true,                       \
             "_ZNK2tt8tt_metal11distributed10MeshDevice11get_devicesEv")                                    \
    FUNCTION(mesh_rows, size_t(const metal::IDevice*), false,                                               \
             "_ZNK2tt8tt_metal11distributed10MeshDevice8num_rowsEv")                                        \
    FUNCTION(mesh_columns, size_t(const metal::IDevice*), false,                                            \
             "_ZNK2tt8tt_metal11distributed10MeshDevice8num_colsEv")                                        \
    FUNCTION(mesh_view, const metal::MeshDeviceView&(const metal::IDevice*), false,                         \
             "_ZNK2tt8tt_metal11distributed10MeshDevice8get_viewEv")                                        \
    FUNCTION(view_devices, std::vector<metal::IDevice*>(const metal::MeshDeviceView&, const void* range),   \
             false,                                                                                         \
             "_ZNK2tt8tt_metal11distributed14MeshDeviceView11get_devicesERKNS1_19MeshCoordinateRangeE")     \
    FUNCTION(workload_programs, const void*(metal::MeshWorkload*), false,                                   \
             "_ZN2tt8tt_metal11distributed12MeshWorkload12get_programsEv")                                  \
    FUNCTION(core_ranges, const std::vector<CoreRectangle>&(const metal::CoreRangeSet*), true,              \
             "_ZNK2tt8tt_metal12CoreRangeSet6rangesEv", "_ZNK12CoreRangeSet6rangesEv")                      \
    FUNCTION(kernels_of, ReturnedVector(const void* program, metal::IDevice*), false,                       \
             "_ZNK2tt8tt_metal6detail11ProgramImpl19collect_kernel_metaEPNS0_7IDeviceE")                    \
    FUNCTION(is_per_core, bool(const metal::Buffer*), false,                                                \
             "_ZN2tt8tt_metal12experimental19per_core_allocation22is_per_core_allocationERKNS0_6BufferE")   \
    FUNCTION(per_core_addresses, const void*(const metal::Buffer*), false,                                  \
             "_ZN2tt8tt_metal12experimental19per_core_allocation22get_per_core_addressesERKNS0_6BufferE")   \
    FUNCTION(dataflow_buffers_of, const ReturnedVector&(const void* program), false,                        \
             "_ZNK2tt8tt_metal6detail11ProgramImpl16dataflow_buffersEv")                                    \
    FUNCTION(program_id, uint64_t(const void*), false, "_ZNK2tt8tt_metal6detail11ProgramImpl6get_idEv")     \
    FUNCTION(push_processor, void(metal::GraphTracker*, const ProcessorPointer&), true,                     \
             "_ZN2tt8tt_metal12GraphTracker14push_processorERKSt10shared_ptrINS0_15IGraphProcessorEE")      \
    FUNCTION(processors, ProcessorList&(const metal::GraphTracker*), true,                                  \
             "_ZNK2tt8tt_metal12GraphTracker14get_processorsEv")                                            \
    FUNCTION(is_tracker_enabled, bool(const metal::GraphTracker*), true,                                    \
             "_ZNK2tt8tt_metal12GraphTracker10is_enabledEv")                                                \
    FUNCTION(track_program, void(metal::GraphTracker*, void* program, const void* device), true,            \
             "_ZN2tt8tt_metal12GraphTracker13track_programEPNS0_7ProgramEPKNS0_7IDeviceE")                  \
    FUNCTION(fabric_node, FabricNode(int), false,                                                           \
             "_ZN2tt9tt_fabric40get_fabric_node_id_from_physical_chip_idEi")                                \
    FUNCTION(asic_of_node, uint64_t(const FabricNode&), false,                                              \
             "_ZN2tt8tt_metal8internal38get_chip_unique_id_from_fabric_node_idERKNS_9tt_"                   \
             "fabric12FabricNodeIdE")

// The runtime's own figures of one kind of memory, for one bank.
struct BankStatistics {
    uint64_t size = 0;
    uint64_t allocated = 0;
    uint64_t free = 0;
    uint64_t largest_free = 0;
};

struct Metal {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration has no room for them.
#define TTMEM_MEMBER(name, type, needed, ...) std::add_pointer_t<type> name = nullptr;
    // NOLINTEND(bugprone-macro-parentheses)
    TTMEM_METAL_FUNCTIONS(TTMEM_MEMBER)
#undef TTMEM_MEMBER
    Functions originals{};
    // Whether the calls are seen that lay them out and mark their addresses.
    bool is_dataflow_layout_seen = false;
    bool is_scratchpad_layout_seen = false;
    bool are_kernel_arguments_seen = false;
    Places places;
    const void* mesh_vtable = nullptr;  // the vtable pointer of meshes
    const void* chip_vtable = nullptr;  // of chips

    bool is_mesh(const metal::IDevice* device) const { return value_at<void*>(device, 0) == mesh_vtable; }
    bool is_chip(const metal::IDevice* device) const { return value_at<void*>(device, 0) == chip_vtable; }

    // Virtual functions of a mesh or a chip.
    uint32_t arch_of(const metal::IDevice* device) const {
        return call<uint32_t>(device, places.device->arch);
    }
    int id_of(const metal::IDevice* device) const { return call<int>(device, places.device->id); }
    uint32_t l1_size_of(const metal::IDevice* device) const {
        return call<uint32_t>(device, places.device->l1_size_per_core);
    }
    CorePosition grid_of(const metal::IDevice* device) const {
        return call<CorePosition>(device, places.device->compute_grid);
    }
    const metal::Allocator* allocator_of(const metal::IDevice* device) const {
        return *call<const metal::Allocator* const*>(device, places.device->allocator);
    }
    std::optional<uint64_t> lowest_l1_address_of(const metal::IDevice* device) const {
        return call<std::optional<uint64_t>>(device, places.device->lowest_l1_address);
    }

    // Fields of a buffer.
    const metal::IDevice* device_of(const metal::Buffer* buffer) const {
        return value_at<const metal::IDevice*>(buffer, places.buffer_device);
    }
    uint64_t size_of(const metal::Buffer* buffer) const {
        return value_at<uint64_t>(buffer, places.buffer_size);
    }
    uint32_t kind_of(const metal::Buffer* buffer) const {
        return value_at<uint32_t>(buffer, places.buffer_kind);
    }
    // Whether a buffer has an address on each core by itself, and how many cores. Nothing where the runtime does not say.
    bool has_core_addresses(const metal::Buffer* buffer) const {
        return is_per_core != nullptr && is_per_core(buffer);
    }
    std::optional<size_t> per_core_count_of(const metal::Buffer* buffer) const {
        constexpr size_t kMapSize = 24;  // in libstdc++'s unordered_map
        return per_core_addresses != nullptr
                   ? std::optional(value_at<size_t>(per_core_addresses(buffer), kMapSize))
                   : std::nullopt;
    }
    bool is_interleaved(const metal::Buffer* buffer) const {
        return value_at<uint32_t>(buffer, places.buffer_layout) == 0;
    }

    // The chips of a device: itself, or the members of a mesh in order.
    std::vector<metal::IDevice*> chips_of(const metal::IDevice* device) const;
    // Rows and columns of a mesh. Nothing where the device is no mesh, or the runtime does not say.
    std::optional<std::pair<uint32_t, uint32_t>> shape_of(const metal::IDevice* device) const;
    BankStatistics statistics_of(const metal::Allocator* allocator, uint32_t kind) const;

    // Of the object whose allocate_buffer() is called. A sub-device has one of its own. Nothing where the runtime does not
    // say.
    std::optional<BankStatistics> statistics_of_allocating(const void* allocating,
                                                           const metal::IDevice* device, uint32_t kind) const;
    std::optional<uint32_t> banks_of_allocating(const void* allocating, const metal::IDevice* device,
                                                uint32_t kind) const;

private:
    // The view through which the device shows the allocating object; null if that is another device's or a sub-device's.
    const metal::Allocator* view_of(const void* allocating, const metal::IDevice* device) const;

    template <class Result>
    Result call(const metal::IDevice* device, size_t slot) const {
        using Function = Result(const metal::IDevice*);
        return reinterpret_cast<Function*>(value_at<void* const*>(device, 0)[slot])(device);
    }
};

inline bool is_kind_in_l1(uint32_t kind) { return kind == TTMEM_L1 || kind == TTMEM_L1_SMALL; }

// Looks everything up. Returns null, or the reason why the runtime is not understood.
const char* look_up(const Runtime& runtime, Metal& found);

// Null, or what differs in the layout of a buffer: what is read must equal what the runtime's functions return. Reads
// only mapped memory.
const char* difference_in(const Metal& metal, const metal::Buffer* buffer);

}  // namespace ttmem::observer
