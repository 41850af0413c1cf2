// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses and peers of Unix sockets. Uses libc alone: libttmem connects too.

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace ttmem::base {

// The longest path of a socket.
constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

class UnixAddress {
public:
    explicit UnixAddress(const char* path) {
        const size_t length = strlen(path);
        is_valid_ = length <= kMaxSocketPath;
        address_.sun_family = AF_UNIX;
        memcpy(address_.sun_path, path, is_valid_ ? length : 0);
    }

    // False where the path is too long.
    bool is_valid() const { return is_valid_; }

    // As the system calls of the same names: false with errno set.
    bool connect(int socket) const { return ::connect(socket, raw(), sizeof address_) == 0; }
    bool bind(int socket) const { return ::bind(socket, raw(), sizeof address_) == 0; }

private:
    const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&address_); }

    sockaddr_un address_{};
    bool is_valid_ = false;
};

// The kernel's record of the process at the other end. False where there is none.
inline bool read_peer(int socket, ucred& peer) {
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && length == sizeof peer;
}

}  // namespace ttmem::base
