// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one line that a library inside another program may write. Uses libc alone: libttmem and the observer write it.

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ttmem::base {

// Whether descriptor 2 can be the error stream that the process was started with. A program that closed it gets the number
// again for a file of its own, where a line of ours would be damage. What a process was started with came through an exec, so
// it is not close-on-exec, and it is one of:
//  - a terminal. No other character device: it may be the hardware that the program works with.
//  - a pipe, or a Unix socket (the journal's). No other socket: a line would be part of a protocol.
//  - a regular file that is only open for writing. So a shell opens the target of `2>`; a database or a temporary file is
//    open for reading too.
// A pipe of the program's own, or a file that it opened only for writing, can't be distinguished without close-on-exec.
inline bool has_standard_error() {
    const int flags = fcntl(STDERR_FILENO, F_GETFD);
    struct stat file {};
    if (flags < 0 || (flags & FD_CLOEXEC) != 0 || fstat(STDERR_FILENO, &file) != 0) {
        return false;
    }
    if (S_ISREG(file.st_mode)) {
        const int mode = fcntl(STDERR_FILENO, F_GETFL);
        return mode >= 0 && (mode & O_ACCMODE) == O_WRONLY;
    }
    if (S_ISSOCK(file.st_mode)) {
        int domain = 0;
        socklen_t length = sizeof domain;
        return getsockopt(STDERR_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
    }
    return S_ISFIFO(file.st_mode) || (S_ISCHR(file.st_mode) && isatty(STDERR_FILENO) == 1);
}

// Writes a line, if there is an error stream. A full pipe must not block the process, and a closed one must not end it.
inline void write_to_standard_error(const char* line, size_t length) {
    pollfd stream{STDERR_FILENO, POLLOUT, 0};
    if (has_standard_error() && poll(&stream, 1, 0) == 1 && stream.revents == POLLOUT) {
        const auto ignored = write(STDERR_FILENO, line, length);
        static_cast<void>(ignored);
    }
}

}  // namespace ttmem::base
