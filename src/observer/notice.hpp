// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one line that an observer may write, on standard error: "ttmem: process 4711 is not observed: ...". libc alone.

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

namespace ttmem::observer {

inline void notice(const char* why) {
    char line[1500];
    int length = snprintf(line, sizeof line, "ttmem: process %d is not observed: %s\n",
                          static_cast<int>(getpid()), why);
    if (length >= static_cast<int>(sizeof line)) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    // A pipe that nobody empties must not stop the process, and one that nobody reads must not end it.
    pollfd error_stream{STDERR_FILENO, POLLOUT, 0};
    if (length > 0 && poll(&error_stream, 1, 0) == 1 && error_stream.revents == POLLOUT) {
        const auto ignored = write(STDERR_FILENO, line, static_cast<size_t>(length));
        static_cast<void>(ignored);
    }
}

}  // namespace ttmem::observer
