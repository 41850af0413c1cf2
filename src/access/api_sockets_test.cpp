// SPDX-License-Identifier: Apache-2.0
#include "access/api_sockets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/support/child.hpp"

namespace ttmem::access {
namespace {

using testing::ElementsAre;
using Path = std::filesystem::path;

TEST(ApiSockets, TheNamedDirectoryIsTheOnlyOne) {
    test::expect_passes_in_child([] {
        setenv("TTMEM_RUNTIME_DIR", "/some/where", 1);
        setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
        EXPECT_THAT(api_sockets(), ElementsAre(Path("/some/where/api.sock")));
    });
}

TEST(ApiSockets, TheHostsDaemonComesBeforeTheUsersOwn) {
    test::expect_passes_in_child([] {
        setenv("TTMEM_RUNTIME_DIR", "", 1);
        setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
        EXPECT_THAT(api_sockets(),
                    ElementsAre(Path("/run/ttmem/api.sock"), Path("/run/user/1/ttmem/api.sock")));
    });
}

TEST(ApiSockets, TheDirectoryInTmpCountsOnlyIfItIsThisUsers) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can be another user";
    }
    const uid_t user = 1'900'000'000 + static_cast<uid_t>(getpid());  // an unused uid
    const std::string directory = "/tmp/ttmem-" + std::to_string(user);
    const auto sockets_of_user = [&](auto check) {
        test::expect_passes_in_child([&] {
            unsetenv("TTMEM_RUNTIME_DIR");
            unsetenv("XDG_RUNTIME_DIR");
            ASSERT_EQ(setresuid(user, user, user), 0);
            check(api_sockets());
        });
    };
    const Path host("/run/ttmem/api.sock");
    const auto only_host = [&](const std::vector<Path>& sockets) { EXPECT_THAT(sockets, ElementsAre(host)); };
    sockets_of_user(only_host);  // the directory does not exist
    ASSERT_EQ(mkdir(directory.c_str(), 0755), 0);
    sockets_of_user(only_host);  // root owns the directory
    ASSERT_EQ(chown(directory.c_str(), user, user), 0);
    sockets_of_user([&](const std::vector<Path>& sockets) {
        EXPECT_THAT(sockets, ElementsAre(host, Path(directory) / "api.sock"));
    });
    ASSERT_EQ(rename(directory.c_str(), (directory + "-real").c_str()), 0);
    ASSERT_EQ(symlink((directory + "-real").c_str(), directory.c_str()), 0);
    sockets_of_user(only_host);  // a link can be changed to another directory later
    unlink(directory.c_str());
    rmdir((directory + "-real").c_str());
}

}  // namespace
}  // namespace ttmem::access
