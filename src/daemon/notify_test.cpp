// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "base/descriptor.hpp"

namespace ttmem::daemon {
namespace {

// Acts as the service manager, with the datagram socket that $NOTIFY_SOCKET names.
class ServiceNotifierTest : public testing::Test {
protected:
    void SetUp() override {
        const std::string name = "@ttmem-notify-test-" + std::to_string(getpid());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
        manager_ = base::Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(bind(manager_.get(), reinterpret_cast<const sockaddr*>(&address),
                       static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
                  0);
        setenv("NOTIFY_SOCKET", name.c_str(), 1);
        unsetenv("WATCHDOG_USEC");
        unsetenv("WATCHDOG_PID");
    }

    void TearDown() override {
        for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
            unsetenv(name);
        }
    }

    std::optional<std::string> next_message() {
        std::array<char, 256> text{};
        const ssize_t length = recv(manager_.get(), text.data(), text.size(), MSG_DONTWAIT);
        return length < 0 ? std::nullopt
                          : std::optional(std::string(text.data(), static_cast<size_t>(length)));
    }

    boost::asio::io_context loop_{1};
    base::Descriptor manager_;
};

TEST_F(ServiceNotifierTest, ReportsStartAndStopToTheManager) {
    ServiceNotifier notifier(loop_);
    EXPECT_EQ(next_message(), std::nullopt);
    notifier.ready();
    EXPECT_EQ(next_message(), "READY=1");
    notifier.stopping();
    EXPECT_EQ(next_message(), "STOPPING=1");
    EXPECT_EQ(next_message(), std::nullopt);
    EXPECT_EQ(loop_.run(), 0u) << "no watchdog messages are wanted";
}

TEST_F(ServiceNotifierTest, SendsWatchdogMessagesFromTheLoopUntilTheEnd) {
    setenv("WATCHDOG_USEC", "3000", 1);
    ServiceNotifier notifier(loop_);
    notifier.ready();
    EXPECT_EQ(next_message(), "READY=1");
    EXPECT_EQ(next_message(), "WATCHDOG=1");
    EXPECT_EQ(next_message(), std::nullopt) << "the loop does not run yet";
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(loop_.run_one(), 1u);
        EXPECT_EQ(next_message(), "WATCHDOG=1");
    }
    notifier.stopping();
    EXPECT_EQ(next_message(), "STOPPING=1");
    loop_.run();
    EXPECT_EQ(next_message(), std::nullopt);
}

TEST_F(ServiceNotifierTest, IgnoresTheWatchdogOfAnotherProcess) {
    setenv("WATCHDOG_USEC", "3000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    ServiceNotifier notifier(loop_);
    notifier.ready();
    EXPECT_EQ(next_message(), "READY=1");
    EXPECT_EQ(next_message(), std::nullopt);
}

TEST_F(ServiceNotifierTest, IgnoresATimeoutThatIsNoNumber) {
    setenv("WATCHDOG_USEC", "3000x", 1);
    ServiceNotifier notifier(loop_);
    notifier.ready();
    EXPECT_EQ(next_message(), "READY=1");
    EXPECT_EQ(next_message(), std::nullopt);
}

TEST_F(ServiceNotifierTest, FindsASocketByItsPath) {
    const std::string path = testing::TempDir() + "ttmem-notify-test-" + std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    manager_ = base::Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(manager_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ServiceNotifier notifier(loop_);
    notifier.ready();
    EXPECT_EQ(next_message(), "READY=1");
    unlink(path.c_str());
}

TEST_F(ServiceNotifierTest, DoesNothingWithoutAManager) {
    unsetenv("NOTIFY_SOCKET");
    ServiceNotifier notifier(loop_);
    notifier.ready();
    notifier.stopping();
    EXPECT_EQ(next_message(), std::nullopt);
}

}  // namespace
}  // namespace ttmem::daemon
