// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/announcement.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/pidfd.hpp"
#include "base/unix_socket.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace ttmem::sources::segments {

using base::Descriptor;
using base::Error;

namespace {

constexpr size_t kMostDescriptors = 253;  // the kernel's limit per message

std::string reason() { return std::strerror(errno); }

Descriptor handle_by_socket(const Descriptor& connection) {
    int handle = -1;
    socklen_t length = sizeof handle;
    const int result = getsockopt(connection.get(), SOL_SOCKET, SO_PEERPIDFD, &handle, &length);
    return Descriptor(result == 0 ? handle : -1);
}

// Takes ownership of every descriptor in the message, so that all are closed.
std::vector<Descriptor> descriptors_in(msghdr& message) {
    std::vector<Descriptor> result;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
            result.emplace_back(number);
        }
    }
    return result;
}

}  // namespace

base::Expected<Peer> peer_of(const Descriptor& connection, HandleFrom from) {
    ucred credentials{};
    if (!base::read_peer(connection.get(), credentials) || credentials.pid <= 0) {
        return base::error(Error::Code::refused, "the kernel does not report the sender");
    }
    Peer peer{static_cast<uint32_t>(credentials.pid), credentials.uid, {}};
    if (from == HandleFrom::socket_or_number) {
        peer.handle = handle_by_socket(connection);
    }
    if (!peer.handle) {
        peer.handle = base::open_process(credentials.pid);
    }
    return peer;
}

base::Expected<Descriptor> receive_segment(const Descriptor& connection) {
    char byte = 0;
    iovec part{&byte, sizeof byte};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) {
        const bool is_early = errno == EAGAIN || errno == EINTR;
        return base::error(is_early ? Error::Code::unfinished : Error::Code::failed,
                           "can't receive: " + reason());
    }
    std::vector<Descriptor> descriptors = descriptors_in(message);
    if (got == 0 && descriptors.empty()) {
        return base::error(Error::Code::gone, "it sent nothing");
    }
    if (descriptors.size() != 1 || (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
        return base::error(Error::Code::refused, "an announcement is one byte and one descriptor");
    }
    return std::move(descriptors.front());
}

}  // namespace ttmem::sources::segments
