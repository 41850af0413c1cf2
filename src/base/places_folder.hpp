// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where 'ttmem observer build' keeps the places that it finds, and the observer searches for them. libc only.

#include <stdio.h>

namespace ttmem::base {

constexpr char kPlacesSuffix[] = ".places";

// $XDG_DATA_HOME/ttmem/observer, or in ~/.local/share. False: neither variable is set, or the path is too long.
inline bool folder_of_places(char* path, size_t size, const char* (*environment)(const char* name)) {
    const char* data = environment("XDG_DATA_HOME");
    const char* home = environment("HOME");
    if (data == nullptr && home == nullptr) {
        return false;
    }
    const int length = data != nullptr ? snprintf(path, size, "%s/ttmem/observer", data)
                                       : snprintf(path, size, "%s/.local/share/ttmem/observer", home);
    return length > 0 && static_cast<size_t>(length) < size;
}

}  // namespace ttmem::base
