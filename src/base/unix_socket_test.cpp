// SPDX-License-Identifier: Apache-2.0
#include "base/unix_socket.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/descriptor.hpp"

namespace ttmem::base {
namespace {

TEST(UnixAddress, ConnectsToWhatIsBoundThereAndNamesThePeer) {
    std::string folder = testing::TempDir() + "socket-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/socket";
    const UnixAddress address(path.c_str());
    const Descriptor server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Descriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_FALSE(address.connect(client.get()));
    ASSERT_TRUE(address.bind(server.get()));
    ASSERT_EQ(listen(server.get(), 1), 0);
    ASSERT_TRUE(address.connect(client.get()));
    ucred peer{};
    ASSERT_TRUE(read_peer(client.get(), peer));
    EXPECT_EQ(peer.pid, getpid());
    EXPECT_EQ(peer.uid, geteuid());
    unlink(path.c_str());
    rmdir(folder.c_str());
}

TEST(UnixAddress, IsInvalidWhereThePathIsTooLong) {
    EXPECT_TRUE(UnixAddress(std::string(kMaxSocketPath, 'x').c_str()).is_valid());
    EXPECT_FALSE(UnixAddress(std::string(kMaxSocketPath + 1, 'x').c_str()).is_valid());
}

TEST(UnixAddress, APipeHasNoPeer) {
    ucred peer{};
    EXPECT_FALSE(read_peer(STDIN_FILENO, peer));
}

}  // namespace
}  // namespace ttmem::base
