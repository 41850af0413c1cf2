// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

namespace ttmem::daemon {
namespace {

using base::Error;
using testing::HasSubstr;

struct ClassicSocketTest : testing::Test {
    ClassicSocketTest() {
        char name[] = "/tmp/ttmem-classic-socket-XXXXXX";
        folder = mkdtemp(name);
        path = folder + "/classic.sock";
    }
    ~ClassicSocketTest() override { std::filesystem::remove_all(folder); }

    // A socket file without a listener.
    void leave_a_dead_socket() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        const base::Descriptor dead(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    bool is_there() const { return std::filesystem::exists(path); }

    std::string folder;
    std::string path;
};

TEST_F(ClassicSocketTest, IsOpenToAllUsersAndRemovedAtTheEnd) {
    {
        const auto taken = ClassicSocket::acquire(path);
        ASSERT_TRUE(taken) << taken.error().text;
        struct stat info {};
        ASSERT_EQ(stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0666u);
    }
    EXPECT_FALSE(is_there());
}

TEST_F(ClassicSocketTest, ReplacesTheSocketOfADeadServer) {
    leave_a_dead_socket();
    EXPECT_TRUE(ClassicSocket::acquire(path));
}

TEST_F(ClassicSocketTest, LeavesTheSocketOfALiveServerAlone) {
    const auto first = ClassicSocket::acquire(path);
    const auto second = ClassicSocket::acquire(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Error::Code::refused);
    EXPECT_THAT(second.error().text, HasSubstr("another server answers at " + path));
    EXPECT_TRUE(is_there());
}

TEST_F(ClassicSocketTest, LeavesAFileThatIsNotASocketAlone) {
    std::ofstream(path) << "mine";
    const auto taken = ClassicSocket::acquire(path);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Error::Code::refused);
    EXPECT_TRUE(is_there());
}

TEST_F(ClassicSocketTest, DoesNotRemoveTheSocketOfALaterServer) {
    auto first = ClassicSocket::acquire(path);
    std::filesystem::remove(path);
    const auto second = ClassicSocket::acquire(path);
    ASSERT_TRUE(second);
    *first = ClassicSocket();
    EXPECT_TRUE(is_there());
}

TEST_F(ClassicSocketTest, AnUnusablePathIsAnError) {
    for (const std::string& bad : {folder + "/none/classic.sock", "/tmp/" + std::string(200, 'x')}) {
        const auto taken = ClassicSocket::acquire(bad);
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error().code, Error::Code::failed);
        EXPECT_THAT(taken.error().text, HasSubstr(bad));
    }
}

}  // namespace
}  // namespace ttmem::daemon
