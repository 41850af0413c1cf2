// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory of a daemon: where its sockets are, and a lock that says that it is there. One daemon a directory.

#include <filesystem>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::daemon {

class RuntimeDirectory {
public:
    // `wanted`, or the one that this user's daemon uses. Makes it where it is missing (0755 for root's in /run, else
    // 0700), checks that it is this user's, and takes the lock. An error says who has it.
    static base::Expected<RuntimeDirectory> take(const std::filesystem::path& wanted);

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path announce_socket() const { return path_ / "announce.sock"; }
    std::filesystem::path api_socket() const { return path_ / "api.sock"; }

    // $TTMEM_RUNTIME_DIR, else that of the systemd unit ($RUNTIME_DIRECTORY), else /run/ttmem as root, else
    // $XDG_RUNTIME_DIR/ttmem, else /tmp/ttmem-<uid>.
    static std::filesystem::path standard();

private:
    std::filesystem::path path_;
    base::Descriptor lock_;  // held as long as this object lives, and by the kernel's word no longer
};

}  // namespace ttmem::daemon
