// SPDX-License-Identifier: Apache-2.0

// How a process announces its segment to a daemon: once, without blocking, and silently if there is no daemon. Each
// test runs in its own process, since a process announces itself once.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/descriptor.hpp"
#include "segment/reader.hpp"
#include "ttmem/ttmem.h"

namespace ttmem {
namespace {

using base::Descriptor;

// A directory in which a daemon would listen.
class RuntimeDirectory {
public:
    RuntimeDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "ttmem-announce-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~RuntimeDirectory() { std::filesystem::remove_all(path_); }
    RuntimeDirectory(const RuntimeDirectory&) = delete;
    RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

    Descriptor listen(int backlog) const {
        Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, (path_ / "announce.sock").c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener.get(), backlog), 0);
        return listener;
    }

private:
    std::filesystem::path path_;
};

ttmem_set start_tracking() {
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    ttmem_device_info info{};
    info.asic_id = 7;
    const ttmem_device device = ttmem_register_device(&info);
    return ttmem_open_set(&device, 1, "device 0");
}

// The descriptor received on a connection, or an empty one.
Descriptor receive(const Descriptor& connection) {
    char byte = 0;
    iovec part{&byte, sizeof byte};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1) {
        return {};
    }
    const cmsghdr* rights = CMSG_FIRSTHDR(&message);
    if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) {
        return {};
    }
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof number);
    return Descriptor(number);
}

Descriptor accept_one(const Descriptor& listener) {
    return Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

TEST(Announce, ADaemonGetsTheSegmentAndReadsIt) {
    const RuntimeDirectory directory;
    const Descriptor listener = directory.listen(8);
    setenv("TTMEM_RUNTIME_DIR", directory.path().c_str(), 1);
    const ttmem_set set = start_tracking();
    ttmem_allocate(set, TTMEM_DRAM, 4096, 1000, 1024, 1);

    const Descriptor connection = accept_one(listener);
    ASSERT_TRUE(connection);
    auto reader = segment::Reader::open(receive(connection));
    ASSERT_TRUE(reader) << reader.error().text;
    EXPECT_EQ(reader->pid(), static_cast<uint32_t>(getpid()));
    EXPECT_EQ(reader->totals().sets.at(0).pools[0].used, 1024u);
    EXPECT_FALSE(accept_one(listener)) << "it announced itself twice";
}

TEST(Announce, WithoutADaemonNothingHappens) {
    const RuntimeDirectory directory;
    setenv("TTMEM_RUNTIME_DIR", directory.path().c_str(), 1);
    testing::internal::CaptureStderr();
    EXPECT_NE(start_tracking(), 0u);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Announce, ADaemonThatAcceptsNobodyDoesNotHoldItUp) {
    const RuntimeDirectory directory;
    const Descriptor listener = directory.listen(0);
    setenv("TTMEM_RUNTIME_DIR", directory.path().c_str(), 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory.path() / "announce.sock").c_str(), sizeof address.sun_path - 1);
    // Fill the queue until the next connection would block.
    std::vector<Descriptor> waiting;
    for (int result = 0; result == 0;) {
        waiting.emplace_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        result = connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    ASSERT_EQ(errno, EAGAIN);
    EXPECT_NE(start_tracking(), 0u);  // a blocking client would hang here
}

TEST(Announce, ADirectoryNamedByTheEnvironmentIsTheOnlyOneAsked) {
    const RuntimeDirectory named;
    const RuntimeDirectory other;
    const Descriptor listener = other.listen(8);
    setenv("TTMEM_RUNTIME_DIR", named.path().c_str(), 1);
    setenv("XDG_RUNTIME_DIR", other.path().c_str(), 1);
    EXPECT_NE(start_tracking(), 0u);
    EXPECT_FALSE(accept_one(listener));
}

TEST(Announce, ThePrivateDirectoryIsUsedWhenItIsThisUsers) {
    if (access("/run/ttmem/announce.sock", F_OK) == 0) {
        FAIL() << "a daemon runs on this machine: it would get the announcement of this test";
    }
    const RuntimeDirectory runtime;
    const auto directory = runtime.path() / "ttmem";
    std::filesystem::create_directory(directory);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory / "announce.sock").c_str(), sizeof address.sun_path - 1);
    const Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener.get(), 8), 0);
    unsetenv("TTMEM_RUNTIME_DIR");
    setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
    EXPECT_NE(start_tracking(), 0u);
    EXPECT_TRUE(accept_one(listener));
}

TEST(Announce, APathTooLongForASocketIsNoReasonToFail) {
    setenv("TTMEM_RUNTIME_DIR", std::string(500, 'x').c_str(), 1);
    EXPECT_NE(start_tracking(), 0u);
}

}  // namespace
}  // namespace ttmem
