// SPDX-License-Identifier: Apache-2.0

// Telling a daemon, if there is one, that this process has a segment. Once, without waiting: a daemon that is not there,
// slow or full finds the segment under /proc by itself a little later.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/segment_file.hpp"

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
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, kSocketName);
    if (length < 0 || static_cast<size_t>(length) >= sizeof address.sun_path) {
        return false;
    }
    const int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (to < 0) {
        return false;
    }
    const bool done = connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                      send_segment(to, state.descriptor);
    close(to);
    return done;
}

// 'ttmem run' wants to know what its command has, also where that is over before anybody can look. Where one runs inside
// another, their folders stand one behind the other, with colons between.
void announce_to_runs(const State& state) {
    const char* run = secure_getenv("TTMEM_RUN_DIR");
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
    if (const char* only = secure_getenv("TTMEM_RUNTIME_DIR")) {
        announce_in(state, only, false);
        return;
    }
    if (announce_in(state, "/run/ttmem", false)) {
        return;
    }
    char directory[108];
    if (const char* runtime = secure_getenv("XDG_RUNTIME_DIR")) {
        snprintf(directory, sizeof directory, "%s/ttmem", runtime);
    } else {
        snprintf(directory, sizeof directory, "/tmp/ttmem-%u", geteuid());
    }
    announce_in(state, directory, true);
}

}  // namespace ttmem::client
