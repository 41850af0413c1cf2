// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/announcement.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/pidfd.hpp"
#include "sources/segments/attach.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::sources::segments {
namespace {

using base::Descriptor;
using base::Error;

bool send_to(int socket, std::string_view text, const std::vector<int>& descriptors) {
    iovec part{const_cast<char*>(text.data()), text.size()};
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

struct Pair {
    Pair() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        ours = Descriptor(ends[0]);
        theirs = Descriptor(ends[1]);
    }
    Descriptor ours;
    Descriptor theirs;
};

size_t open_descriptors() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST(Announcement, OneByteAndOneDescriptorIsOne) {
    const Pair pair;
    EXPECT_EQ(receive_segment(pair.ours).error().code, Error::Code::unfinished);
    ASSERT_TRUE(send_to(pair.theirs.get(), "x", {pair.theirs.get()}));
    const auto received = receive_segment(pair.ours);
    ASSERT_TRUE(received) << received.error().text;
    EXPECT_NE(fcntl(received->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Announcement, AnythingElseIsRefusedAndLeavesNoDescriptorOpen) {
    const Pair pair;
    const int any = pair.theirs.get();
    const size_t before = open_descriptors();
    const std::vector<std::pair<std::string, std::vector<int>>> messages = {
        {"x", {}}, {"xy", {any}}, {"x", {any, any}}, {"x", std::vector<int>(253, any)}};
    for (const auto& [text, descriptors] : messages) {
        ASSERT_TRUE(send_to(any, text, descriptors));
        const auto received = receive_segment(pair.ours);
        ASSERT_FALSE(received);
        EXPECT_EQ(received.error().code, Error::Code::refused);
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(Announcement, AnEndWithoutAWordIsGone) {
    Pair closed;
    { const Descriptor end = std::move(closed.theirs); }
    EXPECT_EQ(receive_segment(closed.ours).error().code, Error::Code::gone);
}

// A child that connects, runs `work` with the socket, and lives until finish().
class Child {
public:
    explicit Child(const std::function<void(int)>& work) {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        // The child connects itself, because the kernel reports the process that connected.
        char folder[] = "/tmp/ttmem-announce-XXXXXX";
        EXPECT_NE(mkdtemp(folder), nullptr);
        const std::string path = std::string(folder) + "/s";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        const Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(listener.get(), 1), 0);
        pid_ = fork();
        if (pid_ == 0) {
            close(ends[0]);
            const int to = socket(AF_UNIX, SOCK_SEQPACKET, 0);
            if (connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
                _exit(1);
            }
            work(to);
            char byte = 0;
            _exit(read(ends[1], &byte, 1) >= 0 ? 0 : 1);
        }
        close(ends[1]);
        end_ = Descriptor(ends[0]);
        connection_ = Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        std::filesystem::remove_all(folder);
    }
    ~Child() { finish(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void finish() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }
    // The child stays a zombie until finish().
    void kill_and_leave() const {
        kill(pid_, SIGKILL);
        siginfo_t ended{};
        waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
    }
    uint32_t pid() const { return static_cast<uint32_t>(pid_); }
    const Descriptor& connection() const { return connection_; }
    Descriptor wait_for_segment() const {
        pollfd poll_for{connection_.get(), POLLIN, 0};
        EXPECT_EQ(poll(&poll_for, 1, 60'000), 1);
        auto received = receive_segment(connection_);
        EXPECT_TRUE(received) << received.error().text;
        return received ? std::move(*received) : Descriptor();
    }

private:
    pid_t pid_ = 0;
    Descriptor end_;
    Descriptor connection_;
};

// The segment of this process, found through its link in /proc.
int own_segment() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code ignored;
        if (std::filesystem::read_symlink(entry.path(), ignored).string().starts_with("/memfd:ttmem")) {
            return std::stoi(entry.path().filename());
        }
    }
    return -1;
}

void announce_own_segment(int to) {
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    setenv("TTMEM_RUNTIME_DIR", "/nonexistent", 1);
    ttmem_device_info info{};
    info.asic_id = 7;
    ttmem_register_device(&info);
    send_to(to, "x", {own_segment()});
}

Peer this_process() { return {static_cast<uint32_t>(getpid()), geteuid(), base::open_process(getpid())}; }

struct PeerTest : testing::TestWithParam<HandleFrom> {};

TEST_P(PeerTest, TheKernelNamesTheProcessAndItsHandleTellsItsEnd) {
    Child child([](int) {});
    const auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer) << peer.error().text;
    EXPECT_EQ(peer->pid, child.pid());
    EXPECT_FALSE(base::has_ended(peer->handle));
    child.finish();
    EXPECT_TRUE(base::has_ended(peer->handle));
}

TEST_P(PeerTest, ItsOwnSegmentIsAttached) {
    Child child(announce_own_segment);
    auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer);
    const auto attached = attach(Proc(), std::move(*peer), child.wait_for_segment());
    ASSERT_TRUE(attached) << attached.error().text;
    EXPECT_EQ(attached->process.identity.pid, child.pid());
    EXPECT_EQ(attached->process.identity.uid, geteuid());
    EXPECT_EQ(attached->process.ledger->devices().at(0)->asic_id, 7u);
}

TEST_P(PeerTest, AProcessThatHasJustEndedIsAttachedForWhatItHeld) {
    Child child(announce_own_segment);
    auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer);
    Descriptor file = child.wait_for_segment();
    child.kill_and_leave();
    const auto attached = attach(Proc(), std::move(*peer), std::move(file));
    ASSERT_TRUE(attached) << attached.error().text;
    EXPECT_TRUE(base::has_ended(attached->handle));
    EXPECT_EQ(attached->process.ledger->devices().at(0)->asic_id, 7u);
}

TEST_P(PeerTest, AProcessThatHasEndedIsAttachedAsDead) {
    Child child(announce_own_segment);
    auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer);
    Descriptor file = child.wait_for_segment();
    const uint32_t pid = child.pid();
    child.finish();
    const auto attached = attach(Proc(), std::move(*peer), std::move(file));
    ASSERT_TRUE(attached) << attached.error().text;
    EXPECT_EQ(attached->process.state, census::ProcessState::dead);
    EXPECT_EQ(attached->process.identity.pid, pid);
    EXPECT_EQ(attached->process.identity.uid, geteuid());
    EXPECT_EQ(attached->process.ledger->devices().at(0)->asic_id, 7u);
}

TEST_P(PeerTest, APeerThatWasReapedBeforeItWasAskedForIsKnownByItsNumberAndUser) {
    Child child(announce_own_segment);
    Descriptor file = child.wait_for_segment();
    const uint32_t pid = child.pid();
    child.finish();
    auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer) << peer.error().text;
    EXPECT_EQ(peer->pid, pid);
    EXPECT_EQ(peer->uid, geteuid());
    const auto attached = attach(Proc(), std::move(*peer), std::move(file));
    ASSERT_TRUE(attached) << attached.error().text;
    EXPECT_EQ(attached->process.state, census::ProcessState::dead);
}

TEST_P(PeerTest, AFileThatAnotherUserMadeDoesNotCountForAProcessThatHasEnded) {
    Child child(announce_own_segment);
    auto peer = peer_of(child.connection(), GetParam());
    ASSERT_TRUE(peer);
    Descriptor file = child.wait_for_segment();
    child.finish();
    peer->uid += 1;
    const auto attached = attach(Proc(), std::move(*peer), std::move(file));
    ASSERT_FALSE(attached);
    EXPECT_EQ(attached.error().code, Error::Code::refused);
}

INSTANTIATE_TEST_SUITE_P(Both, PeerTest, testing::Values(HandleFrom::socket_or_number, HandleFrom::number),
                         [](const auto& about) {
                             return about.param == HandleFrom::number ? "ByNumber" : "BySocket";
                         });

TEST(Attach, TheSegmentOfAnotherProcessIsRefused) {
    const Child child(announce_own_segment);
    // The file is valid and the process is alive, but the segment belongs to another process.
    const auto attached = attach(Proc(), this_process(), child.wait_for_segment());
    ASSERT_FALSE(attached);
    EXPECT_NE(attached.error().text.find("not its own"), std::string::npos) << attached.error().text;
}

TEST(Attach, WhatIsNoSegmentIsRefused) {
    Descriptor file(memfd_create("ttmem", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 4096), 0);
    const auto attached = attach(Proc(), this_process(), std::move(file));
    ASSERT_FALSE(attached);
    EXPECT_EQ(attached.error().code, Error::Code::refused) << attached.error().text;
}

census::Identity user(uint32_t uid, bool has_one_uid = true) {
    census::Identity identity;
    identity.uid = uid;
    identity.has_one_uid = has_one_uid;
    return identity;
}

TEST(Ownership, OnlyTheOneUserOfAProcessOwnsItsSegment) {
    EXPECT_EQ(ownership_of(user(1000), 1000), Ownership::own);
    EXPECT_EQ(ownership_of(user(0), 0), Ownership::own);
    EXPECT_EQ(ownership_of(user(0), 1000), Ownership::foreign) << "passed to a process of root";
    EXPECT_EQ(ownership_of(user(1001), 1000), Ownership::foreign);
    EXPECT_EQ(ownership_of(user(0, false), 1000), Ownership::foreign) << "kept by a set-user-id program";
    EXPECT_EQ(ownership_of(user(1000, false), 1000), Ownership::foreign);
    EXPECT_EQ(ownership_of(user(1000), 0), Ownership::changed_user) << "gave up its privileges";
    EXPECT_EQ(ownership_of(user(0, false), 0), Ownership::changed_user);
}

}  // namespace
}  // namespace ttmem::sources::segments
