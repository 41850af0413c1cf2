// SPDX-License-Identifier: Apache-2.0
#pragma once

// The observer's queries to the runtime. Virtual and inline functions are called directly, so their layout comes from the
// headers. Everything else is looked up by name, with the type from the headers.

#include <cstdint>
#include <internal/cluster.hpp>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/experimental/fabric/fabric.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

#include "observer/interposed.hpp"

namespace ttmem::observer {

namespace metal = tt::tt_metal;

// A method as a function that takes its object first.
template <class Method>
struct AsFunction {
    using Type = Method*;  // it is a function already
};
template <class Result, class Class, class... Parameters>
struct AsFunction<Result (Class::*)(Parameters...)> {
    using Type = Result (*)(Class*, Parameters...);
};
template <class Result, class Class, class... Parameters>
struct AsFunction<Result (Class::*)(Parameters...) const> {
    using Type = Result (*)(const Class*, Parameters...);
};
template <class Result, class Class, class... Parameters>
struct AsFunction<Result (Class::*)(Parameters...) const noexcept> {
    using Type = Result (*)(const Class*, Parameters...);
};

using DevicesOfRange = std::vector<metal::IDevice*> (metal::distributed::MeshDeviceView::*)(
    const metal::distributed::MeshCoordinateRange&) const;
using ProgramsOfWorkload = std::unordered_map<metal::distributed::MeshCoordinateRange, metal::Program>& (
    metal::distributed::MeshWorkload::*)();
using AsicOfNode = metal::AsicID(const tt::tt_fabric::FabricNodeId&);

// name, type, symbol, and whether the observer requires it
#define TTMEM_METAL_FUNCTIONS(FUNCTION)                                                                     \
    FUNCTION(buffer_address, decltype(&metal::Buffer::address), _ZNK2tt8tt_metal6Buffer7addressEv, true)    \
    FUNCTION(buffer_page_size, decltype(&metal::Buffer::page_size), _ZNK2tt8tt_metal6Buffer9page_sizeEv,    \
             true)                                                                                          \
    FUNCTION(buffer_num_pages, decltype(&metal::Buffer::num_pages), _ZNK2tt8tt_metal6Buffer9num_pagesEv,    \
             true)                                                                                          \
    FUNCTION(buffer_is_l1, decltype(&metal::Buffer::is_l1), _ZNK2tt8tt_metal6Buffer5is_l1Ev, true)          \
    FUNCTION(buffer_aligned_page_size, decltype(&metal::Buffer::aligned_page_size),                         \
             _ZNK2tt8tt_metal6Buffer17aligned_page_sizeEv, true)                                            \
    FUNCTION(buffer_size_per_bank, decltype(&metal::Buffer::aligned_size_per_bank),                         \
             _ZNK2tt8tt_metal6Buffer21aligned_size_per_bankEv, true)                                        \
    FUNCTION(allocator_banks, decltype(&metal::Allocator::get_num_banks),                                   \
             _ZNK2tt8tt_metal9Allocator13get_num_banksERKNS0_10BufferTypeE, true)                           \
    FUNCTION(allocator_base, decltype(&metal::Allocator::get_base_allocator_addr),                          \
             _ZNK2tt8tt_metal9Allocator23get_base_allocator_addrERKNS0_10HalMemTypeE, true)                 \
    FUNCTION(allocator_alignment, decltype(&metal::Allocator::get_alignment),                               \
             _ZNK2tt8tt_metal9Allocator13get_alignmentENS0_10BufferTypeE, true)                             \
    FUNCTION(allocator_statistics, decltype(&metal::Allocator::get_statistics),                             \
             _ZNK2tt8tt_metal9Allocator14get_statisticsERKNS0_10BufferTypeE, true)                          \
    FUNCTION(mesh_devices, decltype(&metal::distributed::MeshDevice::get_devices),                          \
             _ZNK2tt8tt_metal11distributed10MeshDevice11get_devicesEv, true)                                \
    FUNCTION(mesh_rows, decltype(&metal::distributed::MeshDevice::num_rows),                                \
             _ZNK2tt8tt_metal11distributed10MeshDevice8num_rowsEv, false)                                   \
    FUNCTION(mesh_columns, decltype(&metal::distributed::MeshDevice::num_cols),                             \
             _ZNK2tt8tt_metal11distributed10MeshDevice8num_colsEv, false)                                   \
    FUNCTION(mesh_view, decltype(&metal::distributed::MeshDevice::get_view),                                \
             _ZNK2tt8tt_metal11distributed10MeshDevice8get_viewEv, true)                                    \
    FUNCTION(view_devices,                                                                                  \
             decltype(static_cast<DevicesOfRange>(&metal::distributed::MeshDeviceView::get_devices)),       \
             _ZNK2tt8tt_metal11distributed14MeshDeviceView11get_devicesERKNS1_19MeshCoordinateRangeE, true) \
    FUNCTION(workload_programs,                                                                             \
             decltype(static_cast<ProgramsOfWorkload>(&metal::distributed::MeshWorkload::get_programs)),    \
             _ZN2tt8tt_metal11distributed12MeshWorkload12get_programsEv, true)                              \
    FUNCTION(core_ranges, decltype(&metal::CoreRangeSet::ranges), _ZNK2tt8tt_metal12CoreRangeSet6rangesEv,  \
             true)                                                                                          \
    FUNCTION(kernels_of, decltype(metal::detail::collect_kernel_meta),                                      \
             _ZN2tt8tt_metal6detail19collect_kernel_metaERKNS0_7ProgramEPNS0_7IDeviceE, true)               \
    FUNCTION(push_processor, decltype(&metal::GraphTracker::push_processor),                                \
             _ZN2tt8tt_metal12GraphTracker14push_processorERKSt10shared_ptrINS0_15IGraphProcessorEE, true)  \
    FUNCTION(processors, decltype(&metal::GraphTracker::get_processors),                                    \
             _ZNK2tt8tt_metal12GraphTracker14get_processorsEv, true)                                        \
    FUNCTION(fabric_node, decltype(tt::tt_fabric::get_fabric_node_id_from_physical_chip_id),                \
             _ZN2tt9tt_fabric40get_fabric_node_id_from_physical_chip_idEi, false)                           \
    FUNCTION(                                                                                               \
        asic_of_node,                                                                                       \
        decltype(*static_cast<AsicOfNode*>(metal::internal::get_chip_unique_id_from_fabric_node_id)),       \
        _ZN2tt8tt_metal8internal38get_chip_unique_id_from_fabric_node_idERKNS_9tt_fabric12FabricNodeIdE,    \
        false)                                                                                              \
    FUNCTION(program_id, metal::ProgramId(const void*), _ZNK2tt8tt_metal6detail11ProgramImpl6get_idEv, false)

struct Metal {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration has no room for them.
#define TTMEM_MEMBER(name, type, symbol, needed) \
    typename AsFunction<std::remove_reference_t<type>>::Type name = nullptr;
    // NOLINTEND(bugprone-macro-parentheses)
    TTMEM_METAL_FUNCTIONS(TTMEM_MEMBER)
#undef TTMEM_MEMBER
    Functions originals{};
    const void* mesh_vtable = nullptr;    // the vtable pointer of MeshDevice objects
    std::vector<void*> processor_vtable;  // a copy of IGraphProcessor's, to be modified; empty: no op names

    bool is_mesh(const metal::IDevice* device) const {
        return *reinterpret_cast<const void* const*>(device) == mesh_vtable;
    }
    const metal::distributed::MeshDevice* as_mesh(const metal::IDevice* device) const {
        return static_cast<const metal::distributed::MeshDevice*>(device);
    }
    // The chips of a device: itself, or the members of a mesh in order.
    std::vector<metal::IDevice*> chips_of(const metal::IDevice* device) const;
    // Rows and columns of a mesh. Nothing where the device is no mesh, or the runtime does not say.
    std::optional<std::pair<uint32_t, uint32_t>> shape_of(const metal::IDevice* device) const;
};

// The vtable index of a virtual function, from its pointer. Refers to no symbol.
template <class Method>
size_t vtable_slot(Method method) {
    std::uintptr_t words[2];
    static_assert(sizeof method == sizeof words);
    __builtin_memcpy(words, &method, sizeof words);
#if defined(__aarch64__)
    return words[0] / sizeof(void*);
#else
    return (words[0] - 1) / sizeof(void*);
#endif
}

// Looks everything up and compares the vtable indices with those of the headers. Returns null, or the reason why the
// runtime does not match.
const char* look_up(const Runtime& runtime, Metal& found);

// Whether a buffer has the layout of the headers: values read by inline functions must equal the runtime's own. Reads
// only mapped memory.
bool is_laid_out_as_expected(const Metal& metal, const metal::Buffer* buffer);

}  // namespace ttmem::observer
