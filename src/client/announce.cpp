// SPDX-License-Identifier: Apache-2.0

// Announces the segment of this process to a daemon, if there is one. Once, without waiting: a daemon that starts later,
// or is slow or full, finds the segment under /proc.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/segment_file.hpp"

#include "base/environment.hpp"
#include "base/runtime_directory.hpp"
#include "base/unix_socket.hpp"

namespace ttmem::client {

namespace {

constexpr char kSocketName[] = "announce.sock";

bool send_segment(int to, int descriptor) {
    char byte = 1;
    iovec part{&byte, sizeof byte};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

// True: a daemon has it. `own_only`: a directory that others could have made must be this user's.
bool announce_in(const State& state, const char* directory, bool own_only) {
    if (own_only) {
        struct stat info {};
        if (lstat(directory, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
            return false;
        }
    }
    char path[base::kMaxSocketPath + 1];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, kSocketName);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path) {
        return false;
    }
    const int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (to < 0) {
        return false;
    }
    const bool done = base::UnixAddress(path).connect(to) && send_segment(to, state.descriptor);
    close(to);
    return done;
}

// 'ttmem run' needs the segments of its command even if the command ends at once. If one runs inside another, the
// variable lists their folders, separated by colons.
void announce_to_runs(const State& state) {
    const char* run = base::secure_environment("TTMEM_RUN_DIR");
    while (run != nullptr && *run != '\0') {
        const size_t length = strcspn(run, ":");
        char directory[108];
        if (length < sizeof directory) {
            memcpy(directory, run, length);
            directory[length] = '\0';
            announce_in(state, directory, true);
        }
        run += length + (run[length] == ':' ? 1 : 0);
    }
}

}  // namespace

void announce(const State& state) {
    if (!owns_descriptor(state)) {
        return;
    }
    announce_to_runs(state);
    const base::RuntimeDirectories directories = base::runtime_directories(base::secure_environment);
    if (directories.named != nullptr) {
        announce_in(state, directories.named, false);
    } else if (!announce_in(state, base::kHostRuntimeDirectory, false)) {
        announce_in(state, directories.of_user, true);
    }
}

}  // namespace ttmem::client
