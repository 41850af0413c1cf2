// SPDX-License-Identifier: Apache-2.0
#include "observer/relocations.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttmem::observer {

namespace {

// Without these calls the figures would be wrong. Other functions have no callers in the library itself in some releases.
std::vector<const void*> called_functions(const Functions& originals) {
    std::vector<const void*> functions = {
        reinterpret_cast<const void*>(originals.hook_allocate),
        reinterpret_cast<const void*>(originals.track_allocate),
        reinterpret_cast<const void*>(originals.track_deallocate),
        reinterpret_cast<const void*>(originals.track_allocate_cb),
        reinterpret_cast<const void*>(originals.track_allocate_cb_on_global_cores),
        reinterpret_cast<const void*>(originals.allocate_buffer),
        reinterpret_cast<const void*>(originals.allocator_allocate_buffer),
        reinterpret_cast<const void*>(originals.close_chip),
        reinterpret_cast<const void*>(originals.close_mesh),
        reinterpret_cast<const void*>(originals.allocate_circular_buffers),
        reinterpret_cast<const void*>(originals.destroy_program)};
    std::erase(functions, nullptr);
    return functions;
}

// The parts of a library's dynamic section that lead to its relocations.
class LibraryRelocations {
public:
    explicit LibraryRelocations(const link_map& library) : base_(library.l_addr) {
        for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
            switch (entry->d_tag) {
                case DT_SYMTAB:
                    symbols_ = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
                    break;
                case DT_RELA:
                    data_.start = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
                    break;
                case DT_RELASZ:
                    data_.count = entry->d_un.d_val / sizeof(ElfW(Rela));
                    break;
                case DT_JMPREL:
                    calls_.start = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
                    break;
                case DT_PLTRELSZ:
                    calls_.count = entry->d_un.d_val / sizeof(ElfW(Rela));
                    break;
                default:
                    break;
            }
        }
    }

    void remove_relocated(std::vector<const void*>& functions) const {
        for (const auto& [start, count] : {data_, calls_}) {
            const bool is_readable = start != nullptr && symbols_ != nullptr;
            for (size_t i = 0; is_readable && i < count && !functions.empty(); ++i) {
                const size_t symbol = start[i].r_info >> 32;
                if (symbol != 0 && symbols_[symbol].st_value != 0) {
                    std::erase(functions, reinterpret_cast<const void*>(base_ + symbols_[symbol].st_value));
                }
            }
        }
    }

private:
    struct RelocationTable {
        const ElfW(Rela) * start = nullptr;
        size_t count = 0;
    };

    const ElfW(Addr) base_;
    const ElfW(Sym) * symbols_ = nullptr;
    RelocationTable data_;
    RelocationTable calls_;
};

}  // namespace

bool is_called_through_linker(const void* function) {
    Dl_info info{};
    void* library = nullptr;
    if (function == nullptr || dladdr1(function, &info, &library, RTLD_DL_LINKMAP) == 0 ||
        library == nullptr) {
        return false;
    }
    std::vector<const void*> functions = {function};
    LibraryRelocations(*static_cast<const link_map*>(library)).remove_relocated(functions);
    return functions.empty();
}

const char* find_bound_function(const Functions& originals) {
    std::vector<const void*> functions = called_functions(originals);
    Dl_info info{};
    void* library = nullptr;
    if (functions.empty() || dladdr1(functions.front(), &info, &library, RTLD_DL_LINKMAP) == 0 ||
        library == nullptr) {
        return nullptr;
    }
    LibraryRelocations(*static_cast<const link_map*>(library)).remove_relocated(functions);
    if (functions.empty()) {
        return nullptr;
    }
    return dladdr(functions.front(), &info) != 0 && info.dli_sname != nullptr ? info.dli_sname : "a function";
}

}  // namespace ttmem::observer
