// SPDX-License-Identifier: Apache-2.0

// Announcements that a hostile process may send. The first byte of an input gives the number of descriptors, the second
// their type, the third the length of the text; the rest is the content of the files.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/pidfd.hpp"
#include "sources/segments/announcement.hpp"
#include "sources/segments/attach.hpp"

namespace {

using ttmem::base::Descriptor;

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

Descriptor file_with(const uint8_t* data, size_t size, uint8_t what) {
    switch (what % 4) {
        case 0:
            return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
        case 1:
            return Descriptor(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        default:
            break;
    }
    Descriptor file(memfd_create("ttmem", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const bool is_written = ftruncate(file.get(), static_cast<off_t>(size + 4096)) == 0 &&
                            pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size);
    if (is_written && what % 4 == 2) {
        fcntl(file.get(), F_ADD_SEALS, kAllSeals);
    }
    return file;
}

void send_all(int socket, size_t text_size, const std::vector<Descriptor>& files) {
    std::array<char, 256> text{};
    iovec part{text.data(), std::min(text_size, text.size())};
    std::vector<char> control(CMSG_SPACE(files.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        for (size_t i = 0; i < files.size(); ++i) {
            const int number = files[i].get();
            std::memcpy(CMSG_DATA(rights) + i * sizeof number, &number, sizeof number);
        }
    }
    sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    namespace segments = ttmem::sources::segments;
    if (size < 3) {
        return 0;
    }
    std::vector<Descriptor> files;
    for (uint8_t i = 0; i < data[0] % 5; ++i) {
        files.push_back(file_with(data + 3, size - 3, static_cast<uint8_t>(data[1] >> i)));
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return 0;
    }
    const Descriptor ours(ends[0]);
    const Descriptor theirs(ends[1]);
    send_all(theirs.get(), data[2], files);
    auto received = segments::receive_segment(ours);
    if (received) {
        segments::attach(ttmem::sources::Proc(),
                         {static_cast<uint32_t>(getpid()), geteuid(), ttmem::base::open_process(getpid())},
                         std::move(*received));
    }
    return 0;
}
