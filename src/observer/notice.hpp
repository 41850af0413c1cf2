// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one line that an observer may print on standard error: "ttmem: process 4711 is not observed: ...". libc only.

#include <stdio.h>
#include <unistd.h>

#include "base/standard_error.hpp"

namespace ttmem::observer {

inline void notice(const char* why) {
    char line[1500];
    int length = snprintf(line, sizeof line, "ttmem: process %d is not observed: %s\n",
                          static_cast<int>(getpid()), why);
    if (length >= static_cast<int>(sizeof line)) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (length > 0) {
        base::write_to_standard_error(line, static_cast<size_t>(length));
    }
}

}  // namespace ttmem::observer
