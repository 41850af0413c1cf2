// SPDX-License-Identifier: Apache-2.0
#include "access/api_sockets.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/runtime_directory.hpp"

namespace ttmem::access {

namespace {

constexpr const char* kSocket = "api.sock";

bool is_own_directory(const std::filesystem::path& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

}  // namespace

std::vector<std::filesystem::path> daemon_directories() {
    const base::RuntimeDirectories directories = base::runtime_directories();
    if (directories.named != nullptr) {
        return {directories.named};
    }
    std::vector<std::filesystem::path> result = {base::kHostRuntimeDirectory};
    const std::filesystem::path of_user = directories.of_user;
    if (!of_user.empty() && (!directories.is_user_in_tmp || is_own_directory(of_user))) {
        result.push_back(of_user);
    }
    return result;
}

std::vector<std::filesystem::path> api_sockets() {
    std::vector<std::filesystem::path> sockets = daemon_directories();
    for (std::filesystem::path& path : sockets) {
        path /= kSocket;
    }
    return sockets;
}

}  // namespace ttmem::access
