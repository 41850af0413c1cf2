// SPDX-License-Identifier: Apache-2.0
#include "observer/device_slots.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <array>

namespace ttmem::observer {

namespace {

constexpr size_t kHeader = 2;  // of a vtable, in words: offset to top, type information

struct DeviceFunction {
    const char* symbol;
    size_t DeviceSlots::*slot;
};

// In the order of every release.
#define TTMEM_MESH_FUNCTION(name) "_ZNK2tt8tt_metal11distributed10MeshDevice" name "Ev"
constexpr std::array kFunctions = {
    DeviceFunction{TTMEM_MESH_FUNCTION("4arch"), &DeviceSlots::arch},
    DeviceFunction{TTMEM_MESH_FUNCTION("2id"), &DeviceSlots::id},
    DeviceFunction{TTMEM_MESH_FUNCTION("16l1_size_per_core"), &DeviceSlots::l1_size_per_core},
    DeviceFunction{TTMEM_MESH_FUNCTION("30compute_with_storage_grid_size"), &DeviceSlots::compute_grid},
    DeviceFunction{TTMEM_MESH_FUNCTION("9allocator"), &DeviceSlots::allocator},
    DeviceFunction{TTMEM_MESH_FUNCTION("34lowest_occupied_compute_l1_address"),
                   &DeviceSlots::lowest_l1_address},
};
#undef TTMEM_MESH_FUNCTION

using Choice = std::array<size_t, kFunctions.size()>;

// Each function at its lowest place above the one before, or at its highest below the one after.
bool choose(const Vtable& mesh, const std::array<void*, kFunctions.size()>& addresses, bool lowest,
            Choice& choice, size_t& failed) {
    size_t next = 0;
    for (size_t step = 0; step < kFunctions.size(); ++step) {
        const size_t function = lowest ? step : kFunctions.size() - 1 - step;
        while (next < mesh.count &&
               mesh.functions[lowest ? next : mesh.count - 1 - next] != addresses[function]) {
            ++next;
        }
        if (next == mesh.count) {
            failed = function;
            return false;
        }
        choice[function] = lowest ? next : mesh.count - 1 - next;
        ++next;
    }
    return true;
}

}  // namespace

std::optional<Vtable> find_vtable(const Runtime& runtime, const char* symbol) {
    void* start = runtime.find(symbol);
    Dl_info info{};
    void* entry = nullptr;
    if (start == nullptr || dladdr1(start, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
        info.dli_saddr != start) {
        return std::nullopt;
    }
    const size_t words = static_cast<const ElfW(Sym)*>(entry)->st_size / sizeof(void*);
    if (words <= kHeader) {
        return std::nullopt;
    }
    return Vtable{static_cast<void* const*>(start) + kHeader, words - kHeader};
}

const char* find_device_slots(const Runtime& runtime, const Vtable& mesh, std::optional<DeviceSlots>& slots) {
    std::array<void*, kFunctions.size()> addresses{};
    for (size_t i = 0; i < kFunctions.size(); ++i) {
        const auto& [symbol, slot] = kFunctions[i];
        addresses[i] = runtime.find(symbol);
        if (addresses[i] == nullptr ||
            (slots && ((*slots).*slot >= mesh.count || mesh.functions[(*slots).*slot] != addresses[i]))) {
            return symbol;
        }
    }
    if (slots) {
        return nullptr;
    }
    Choice lowest{};
    Choice highest{};
    size_t failed = 0;
    if (!choose(mesh, addresses, true, lowest, failed) || !choose(mesh, addresses, false, highest, failed)) {
        return kFunctions[failed].symbol;
    }
    slots.emplace();
    for (size_t i = 0; i < kFunctions.size(); ++i) {
        if (lowest[i] != highest[i]) {
            slots.reset();
            return kFunctions[i].symbol;
        }
        (*slots).*kFunctions[i].slot = lowest[i];
    }
    return nullptr;
}

}  // namespace ttmem::observer
