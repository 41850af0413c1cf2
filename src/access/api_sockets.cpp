// SPDX-License-Identifier: Apache-2.0
#include "access/api_sockets.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ttmem::access {

namespace {

constexpr const char* kSocket = "api.sock";

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

bool is_own_directory(const std::filesystem::path& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

}  // namespace

std::vector<std::filesystem::path> api_sockets() {
    if (const char* named = variable("TTMEM_RUNTIME_DIR")) {
        return {std::filesystem::path(named) / kSocket};
    }
    std::vector<std::filesystem::path> sockets = {std::filesystem::path("/run/ttmem") / kSocket};
    if (const char* runtime = variable("XDG_RUNTIME_DIR")) {
        sockets.push_back(std::filesystem::path(runtime) / "ttmem" / kSocket);
    } else {
        const std::filesystem::path temporary = "/tmp/ttmem-" + std::to_string(geteuid());
        if (is_own_directory(temporary)) {
            sockets.push_back(temporary / kSocket);
        }
    }
    return sockets;
}

}  // namespace ttmem::access
