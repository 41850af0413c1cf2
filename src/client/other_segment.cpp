// SPDX-License-Identifier: Apache-2.0
#include "client/other_segment.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "segment/layout.hpp"

namespace ttmem::client {

namespace {

constexpr char kLink[] = "/memfd:";

bool is_own_segment(const char* path) {
    char target[256];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) {
        return false;
    }
    target[length] = '\0';
    const size_t name = sizeof kLink - 1;
    const size_t name_length = strlen(segment::kMemfdName);
    if (strncmp(target, kLink, name) != 0 || strncmp(target + name, segment::kMemfdName, name_length) != 0 ||
        (target[name + name_length] != ' ' && target[name + name_length] != '\0')) {
        return false;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    uint64_t magic = 0;
    uint32_t pid = 0;
    const bool is_own = pread(file, &magic, sizeof magic, offsetof(segment::Header, magic)) == sizeof magic &&
                        pread(file, &pid, sizeof pid, offsetof(segment::Header, pid)) == sizeof pid &&
                        magic == segment::kMagic && pid == static_cast<uint32_t>(getpid());
    close(file);
    return is_own;
}

}  // namespace

unsigned count_own_segments() {
    const int saved = errno;
    DIR* folder = opendir("/proc/self/fd");
    unsigned found = 0;
    while (folder != nullptr) {
        const dirent* entry = readdir(folder);
        if (entry == nullptr) {
            break;
        }
        char path[sizeof "/proc/self/fd/" + sizeof entry->d_name];
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        found += is_own_segment(path) ? 1u : 0u;
    }
    if (folder != nullptr) {
        closedir(folder);
    }
    errno = saved;
    return found;
}

}  // namespace ttmem::client
