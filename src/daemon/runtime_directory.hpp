// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory of a daemon: its sockets, and a lock file. A directory has one daemon at most.

#include <filesystem>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::daemon {

class RuntimeDirectory {
public:
    // Creates `path` if it is missing (mode 0755 for /run/ttmem, else 0700), checks that it belongs to this user, and locks it.
    // If another daemon has the lock, the error names its process.
    static base::Expected<RuntimeDirectory> acquire(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path announce_socket() const { return path_ / "announce.sock"; }
    std::filesystem::path api_socket() const { return path_ / "api.sock"; }

    // $TTMEM_RUNTIME_DIR, else that of the systemd unit ($RUNTIME_DIRECTORY), else /run/ttmem as root, else
    // $XDG_RUNTIME_DIR/ttmem, else /tmp/ttmem-<uid>.
    static std::filesystem::path standard();

private:
    std::filesystem::path path_;
    base::Descriptor lock_;  // released by the kernel when this object or the process ends
};

}  // namespace ttmem::daemon
