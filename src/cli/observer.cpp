// SPDX-License-Identifier: Apache-2.0
#include "cli/observer.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/environment.hpp"

namespace ttmem::cli {

std::optional<std::string> find_observer() {
    if (const char* named = base::environment("TTMEM_OBSERVER")) {
        return named;
    }
    std::error_code problem;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
    for (const char* folder : {"../lib", "../" TTMEM_LIBRARY_FOLDER}) {
        const std::string path = (self.parent_path() / folder / "libttmem_observer.so").lexically_normal();
        if (::access(path.c_str(), R_OK) == 0) {
            return path;
        }
    }
    return std::nullopt;
}

}  // namespace ttmem::cli
