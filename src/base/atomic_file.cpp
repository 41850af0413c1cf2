// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace ttmem::base {

bool write_file_atomically(const std::string& path, std::string_view text, std::optional<mode_t> mode) {
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
    const std::string temporary = path + ".new";
    std::ofstream file(temporary);
    file << text;
    file.close();
    if (!file || (mode && chmod(temporary.c_str(), *mode) != 0)) {
        return false;
    }
    std::filesystem::rename(temporary, path, problem);
    return !problem;
}

}  // namespace ttmem::base
