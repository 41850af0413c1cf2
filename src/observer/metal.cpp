// SPDX-License-Identifier: Apache-2.0
#include "observer/metal.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/descriptor.hpp"

namespace ttmem::observer {

namespace {

constexpr char kMesh[] = "_ZTVN2tt8tt_metal11distributed10MeshDeviceE";
constexpr char kProcessor[] = "_ZTVN2tt8tt_metal15IGraphProcessorE";
constexpr size_t kBeforeSlots = 2;  // of a vtable: offset to top, type information

struct VtableSlot {
    size_t number;
    const char* symbol;
};

// The whole vtable including its header; empty if the symbol has no size.
std::vector<void*> read_vtable(const Runtime& runtime, const char* symbol) {
    void* start = runtime.find(symbol);
    Dl_info info{};
    void* entry = nullptr;
    if (start == nullptr || dladdr1(start, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
        info.dli_saddr != start) {
        return {};
    }
    auto* const words = static_cast<void**>(start);
    return std::vector<void*>(words, words + static_cast<const ElfW(Sym)*>(entry)->st_size / sizeof(void*));
}

bool agrees(const Runtime& runtime, const std::vector<void*>& vtable, const VtableSlot& slot) {
    const size_t index = kBeforeSlots + slot.number;
    if (index >= vtable.size()) {
        return false;
    }
    // An inline function may exist several times; the first library in the search order wins.
    Dl_info info{};
    return vtable[index] == runtime.find(slot.symbol) ||
           (dladdr(vtable[index], &info) != 0 && info.dli_sname != nullptr &&
            std::string_view(info.dli_sname) == slot.symbol);
}

const char* check_devices(const Runtime& runtime) {
    using metal::IDevice;
    using ThisAllocator = const std::unique_ptr<metal::Allocator>& (IDevice::*)() const;
    using ThisImpl = const std::unique_ptr<metal::AllocatorImpl>& (IDevice::*)() const;
    using LowestAddress = std::optional<metal::DeviceAddr> (IDevice::*)() const;
#define TTMEM_MESH_FUNCTION(name) "_ZNK2tt8tt_metal11distributed10MeshDevice" name "Ev"
    const VtableSlot slots[] = {
        {vtable_slot(&IDevice::arch), TTMEM_MESH_FUNCTION("4arch")},
        {vtable_slot(&IDevice::id), TTMEM_MESH_FUNCTION("2id")},
        {vtable_slot(&IDevice::is_initialized), TTMEM_MESH_FUNCTION("14is_initialized")},
        {vtable_slot(&IDevice::l1_size_per_core), TTMEM_MESH_FUNCTION("16l1_size_per_core")},
        {vtable_slot(&IDevice::compute_with_storage_grid_size),
         TTMEM_MESH_FUNCTION("30compute_with_storage_grid_size")},
        {vtable_slot(static_cast<ThisAllocator>(&IDevice::allocator)), TTMEM_MESH_FUNCTION("9allocator")},
        {vtable_slot(static_cast<ThisImpl>(&IDevice::allocator_impl)),
         TTMEM_MESH_FUNCTION("14allocator_impl")},
        {vtable_slot(static_cast<LowestAddress>(&IDevice::lowest_occupied_compute_l1_address)),
         TTMEM_MESH_FUNCTION("34lowest_occupied_compute_l1_address")},
    };
#undef TTMEM_MESH_FUNCTION
    const std::vector<void*> vtable = read_vtable(runtime, kMesh);
    for (const VtableSlot& slot : slots) {
        if (!agrees(runtime, vtable, slot)) {
            return "its devices are not those of the tt-metal that this was built for";
        }
    }
    return nullptr;
}

// Without it there are no op names; everything else works.
std::vector<void*> processor_vtable(const Runtime& runtime) {
    using metal::IGraphProcessor;
    using TrackEnd = void (IGraphProcessor::*)();
    const VtableSlot slots[] = {
        {vtable_slot(&IGraphProcessor::is_capture_processor),
         "_ZNK2tt8tt_metal15IGraphProcessor20is_capture_processorEv"},
        {vtable_slot(static_cast<TrackEnd>(&IGraphProcessor::track_function_end)),
         "_ZN2tt8tt_metal15IGraphProcessor18track_function_endEv"},
        {vtable_slot(&IGraphProcessor::end_capture), nullptr},
    };
    std::vector<void*> vtable = read_vtable(runtime, kProcessor);
    for (const VtableSlot& slot : slots) {
        if (kBeforeSlots + slot.number >= vtable.size() ||
            (slot.symbol != nullptr && !agrees(runtime, vtable, slot))) {
            return {};
        }
    }
    return vtable;
}

// Reads a word that may be unmapped: the kernel checks the address.
bool read_word(const void* from, const void*& word) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return false;
    }
    const base::Descriptor out(ends[0]);
    const base::Descriptor in(ends[1]);
    return write(in.get(), from, sizeof word) == sizeof word &&
           read(out.get(), &word, sizeof word) == sizeof word;
}

bool is_device(const metal::IDevice* device) {
    const void* vtable = nullptr;
    Dl_info info{};
    return device != nullptr && read_word(device, vtable) && vtable != nullptr &&
           dladdr(vtable, &info) != 0 && info.dli_sname != nullptr &&
           std::string_view(info.dli_sname).starts_with("_ZTVN2tt8tt_metal");
}

}  // namespace

std::vector<metal::IDevice*> Metal::chips_of(const metal::IDevice* device) const {
    if (is_mesh(device)) {
        return mesh_devices(as_mesh(device));
    }
    return {const_cast<metal::IDevice*>(device)};
}

std::optional<std::pair<uint32_t, uint32_t>> Metal::shape_of(const metal::IDevice* device) const {
    if (!is_mesh(device) || mesh_rows == nullptr || mesh_columns == nullptr) {
        return std::nullopt;
    }
    try {
        return std::pair(static_cast<uint32_t>(mesh_rows(as_mesh(device))),
                         static_cast<uint32_t>(mesh_columns(as_mesh(device))));
    } catch (...) {
        return std::nullopt;  // the runtime throws unless a mesh has two dimensions
    }
}

const char* look_up(const Runtime& runtime, Metal& found) {
    found.originals = runtime.originals;
#define TTMEM_LOOK_UP(name, type, symbol, needed)                               \
    found.name = reinterpret_cast<decltype(found.name)>(runtime.find(#symbol)); \
    if ((needed) && found.name == nullptr) {                                    \
        return "it has no " #symbol;                                            \
    }
    TTMEM_METAL_FUNCTIONS(TTMEM_LOOK_UP)
#undef TTMEM_LOOK_UP
    if (const char* problem = check_devices(runtime)) {
        return problem;
    }
    found.mesh_vtable = static_cast<void**>(runtime.find(kMesh)) + kBeforeSlots;
    found.processor_vtable = processor_vtable(runtime);
    return nullptr;
}

bool is_laid_out_as_expected(const Metal& metal, const metal::Buffer* buffer) {
    const uint64_t page_size = metal.buffer_page_size(buffer);
    const auto pages = static_cast<uint32_t>(page_size == 0 ? 0 : buffer->size() / page_size);
    const metal::BufferType type = buffer->buffer_type();
    const bool is_l1 = type == metal::BufferType::L1 || type == metal::BufferType::L1_SMALL;
    return is_device(buffer->device()) && metal.buffer_num_pages(buffer) == pages &&
           metal.buffer_is_l1(buffer) == is_l1 && static_cast<unsigned>(type) <= 4;
}

}  // namespace ttmem::observer
