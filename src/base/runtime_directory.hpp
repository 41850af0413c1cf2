// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a daemon's sockets are. Client, daemon and faces share this rule:
//
//   1. $TTMEM_RUNTIME_DIR, if set, and then no other;
//   2. /run/ttmem, the daemon of the host;
//   3. the directory of the user's own daemon: $XDG_RUNTIME_DIR/ttmem, or /tmp/ttmem-UID where that variable is unset.
//
// Uses libc alone: libttmem applies it too.

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/environment.hpp"

namespace ttmem::base {

constexpr char kHostRuntimeDirectory[] = "/run/ttmem";

struct RuntimeDirectories {
    // Null: not set.
    const char* named = nullptr;
    // Empty where the path is too long to be one.
    char of_user[1024] = "";
    // Below /tmp, where any user could have made it: check the owner.
    bool is_user_in_tmp = false;
};

// `variable` is environment() or secure_environment().
inline RuntimeDirectories runtime_directories(const char* (*variable)(const char*) = environment) {
    RuntimeDirectories result;
    result.named = variable("TTMEM_RUNTIME_DIR");
    const char* runtime = variable("XDG_RUNTIME_DIR");
    result.is_user_in_tmp = runtime == nullptr;
    const int length = runtime != nullptr
                           ? snprintf(result.of_user, sizeof result.of_user, "%s/ttmem", runtime)
                           : snprintf(result.of_user, sizeof result.of_user, "/tmp/ttmem-%u", geteuid());
    if (length < 0 || static_cast<size_t>(length) >= sizeof result.of_user) {
        result.of_user[0] = '\0';
    }
    return result;
}

}  // namespace ttmem::base
