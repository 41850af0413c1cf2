// SPDX-License-Identifier: Apache-2.0

// Listening: socket files, addresses, the identity of callers and connection limits.

#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "daemon/http/server_test_support.hpp"
#include "tests/support/child.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

using base::Error;

TEST_F(ServerTest, TheSocketIsOpenToAllAndRemovedWithTheServer) {
    const mode_t before = umask(077);
    start_echo();
    umask(before);
    struct stat info {};
    ASSERT_EQ(stat(path().c_str(), &info), 0);
    EXPECT_TRUE(S_ISSOCK(info.st_mode));
    EXPECT_EQ(info.st_mode & 0777, 0666u);
    stop();
    EXPECT_NE(stat(path().c_str(), &info), 0);
}

TEST_F(ServerTest, TheSocketOfADeadServerIsReplaced) {
    {
        const base::Descriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
        ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ASSERT_TRUE(std::filesystem::exists(path()));
    ASSERT_FALSE(RawClient(path()).is_connected());
    start_echo();
    EXPECT_EQ(get(kRequest).body, "/a");
}

TEST_F(ServerTest, AFileThatIsNotASocketIsLeftAlone) {
    boost::asio::io_context loop;
    Server server(loop, post_task(), {});
    std::ofstream(path()) << "precious";
    const auto result = server.listen_unix(path());
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text.find("not a socket"), std::string::npos) << result.error().text;
    EXPECT_TRUE(std::filesystem::is_regular_file(path()));
}

TEST_F(ServerTest, AnUnusablePathIsExplained) {
    boost::asio::io_context loop;
    Server server(loop, post_task(), {});
    const auto missing = server.listen_unix(directory_ / "none" / "api.sock");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().text.find("No such file"), std::string::npos) << missing.error().text;
    const auto lengthy = server.listen_unix(directory_ / std::string(120, 'x'));
    ASSERT_FALSE(lengthy);
    EXPECT_NE(lengthy.error().text.find("107 bytes"), std::string::npos) << lengthy.error().text;
}

TEST_F(ServerTest, APortInUseAndABadAddressAreDifferentErrors) {
    start_echo();
    boost::asio::io_context loop;
    Server other(loop, post_task(), {});
    const auto taken = other.listen_tcp("127.0.0.1", port_);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Error::Code::refused);
    EXPECT_EQ(taken.error().text.find("can't listen on 127.0.0.1:" + std::to_string(port_) + ": another"), 0u)
        << taken.error().text;
    const auto bad = other.listen_tcp("localhost", 0);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, Error::Code::failed);
    const auto foreign = other.listen_tcp("192.0.2.1", 0);  // reserved for documentation
    ASSERT_FALSE(foreign);
    EXPECT_EQ(foreign.error().code, Error::Code::failed);
}

TEST_F(ServerTest, ListensOnIpv6Loopback) {
    if (!std::filesystem::exists("/proc/net/if_inet6")) {
        GTEST_SKIP() << "this kernel has no IPv6";
    }
    boost::asio::io_context loop;
    Server server(loop, post_task(), {});
    const auto port = server.listen_tcp("::1", 0);
    if (!port && port.error().text.find("assign requested") != std::string::npos) {
        GTEST_SKIP() << "this host has no ::1";
    }
    ASSERT_TRUE(port) << port.error().text;
    EXPECT_NE(*port, 0);
}

TEST_F(ServerTest, TheCallersIdentityComesFromTheKernel) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send(kLater));
    const Caller caller = inbox_.take().request.caller;
    EXPECT_TRUE(caller.is_local);
    EXPECT_EQ(caller.uid, geteuid());
    EXPECT_NE(std::find(caller.groups.begin(), caller.groups.end(), getegid()), caller.groups.end());
}

TEST_F(ServerTest, CallersAreIdentifiedWithAnyNumberOfGroups) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can be another user";
    }
    start_echo();
    for (const size_t extra : {size_t{0}, size_t{3}, size_t{64}, size_t{65}, size_t{1000}}) {
        const pid_t child = fork();
        if (child == 0) {
            std::vector<gid_t> groups(extra);
            for (size_t i = 0; i < extra; ++i) {
                groups[i] = static_cast<gid_t>(50'000 + i);
            }
            if (setgroups(groups.size(), groups.data()) != 0 || setresgid(4343, 4343, 4343) != 0 ||
                setresuid(4242, 4242, 4242) != 0) {
                _exit(2);
            }
            RawClient client(path());
            _exit(client.send(kLater) && client.read_reply().status() == 200 ? 0 : 1);
        }
        auto item = inbox_.take();
        item.responder->send({});
        EXPECT_EQ(test::wait_for_child(child).code, 0);
        const Caller& caller = item.request.caller;
        EXPECT_TRUE(caller.is_local);
        EXPECT_EQ(caller.uid, 4242u);
        ASSERT_EQ(caller.groups.size(), extra + 1);
        EXPECT_EQ(caller.groups.back(), 4343u);
        for (size_t i = 0; i < extra; ++i) {
            EXPECT_EQ(caller.groups[i], 50'000 + i);
        }
    }
}

TEST_F(ServerTest, AConnectionOverTheLimitGets503AndLaterOnesAreServed) {
    ServerLimits limits;
    limits.connections = 2;
    start_echo(limits);
    RawClient first(path());
    RawClient second(port_);
    for (RawClient* client : {&first, &second}) {
        ASSERT_TRUE(client->send(kRequest));
        EXPECT_EQ(client->read_reply().status(), 200u);
    }
    RawClient third(path());
    const auto answer = third.read_reply();
    EXPECT_EQ(answer.status(), 503u);
    EXPECT_EQ(answer.body, "{\"error\":\"too many connections, try again\",\"code\":\"busy\"}\n");
    EXPECT_EQ(third.read_to_end(), "");
    EXPECT_EQ(statistics().rejected_connections, 1u);
    first.close();
    ASSERT_TRUE(test::wait_until([&] { return statistics().connections == 1; }));
    EXPECT_EQ(get(kRequest).status(), 200u);
}

TEST_F(ServerTest, OneUserCannotUseUpAllConnections) {
    ServerLimits limits;
    limits.connections_per_user = 1;
    start_echo(limits);
    const auto asks = [](RawClient& client) {
        EXPECT_TRUE(client.send(kRequest));
        return client.read_reply().status();
    };
    RawClient mine(path());
    RawClient of_tcp(port_);
    EXPECT_EQ(asks(mine), 200u);
    EXPECT_EQ(asks(of_tcp), 200u);
    EXPECT_EQ(RawClient(path()).read_reply().status(), 503u);
    EXPECT_EQ(RawClient(port_).read_reply().status(), 503u);
    if (geteuid() == 0) {
        test::expect_passes_in_child([&] {
            ASSERT_EQ(setresuid(4242, 4242, 4242), 0);
            RawClient others(path());
            EXPECT_EQ(asks(others), 200u);
        });
    }
    mine.close();
    ASSERT_TRUE(test::wait_until([&] { return statistics().connections == 1; }));
    EXPECT_EQ(get(kRequest).status(), 200u);
}

// Takes away all free descriptors during its lifetime.
class NoDescriptors {
public:
    NoDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const base::Descriptor lowest(dup(0));
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(lowest.get());
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
};

TEST_F(ServerTest, AcceptingPausesWithoutDescriptorsAndDoesNotSpin) {
    ServerLimits limits;
    limits.accept_pause = std::chrono::hours(1);
    start_echo(limits);
    RawClient client(AF_UNIX);
    const NoDescriptors none;
    client.connect_unix(path());
    ASSERT_TRUE(client.is_connected());
    ASSERT_TRUE(test::wait_until([&] { return statistics().accept_pauses == 1; }));
    for (int i = 0; i < 1000; ++i) {
        // Each call is a turn of the loop, in which a spinning server would try again.
        ASSERT_EQ(statistics().accept_pauses, 1u);
    }
}

TEST_F(ServerTest, WaitingCallersAreServedAfterAPause) {
    ServerLimits limits;
    limits.accept_pause = std::chrono::milliseconds(1);
    start_echo(limits);
    RawClient client(AF_UNIX);
    {
        const NoDescriptors none;
        client.connect_unix(path());
        ASSERT_TRUE(client.is_connected());
        ASSERT_TRUE(test::wait_until([&] { return statistics().accept_pauses >= 2; }));
    }
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(client.read_reply().body, "/a");
}

}  // namespace
}  // namespace ttmem::daemon::http
