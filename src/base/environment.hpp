// SPDX-License-Identifier: Apache-2.0
#pragma once

// Environment variables. An empty variable means unset, everywhere. Uses libc alone: libttmem reads them too.

#include <stdlib.h>

namespace ttmem::base {

// Null where the variable is unset or empty.
inline const char* environment(const char* name) {
    const char* value = getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// For a library inside other programs: null also in a program that runs with the rights of another user (setuid).
inline const char* secure_environment(const char* name) {
    const char* value = secure_getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace ttmem::base
