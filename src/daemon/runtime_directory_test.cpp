// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtime_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace ttmem::daemon {
namespace {

using testing::HasSubstr;

struct RuntimeDirectoryTest : testing::Test {
    RuntimeDirectoryTest() {
        std::string name = (std::filesystem::temp_directory_path() / "ttmem-runtime-XXXXXX").string();
        root = mkdtemp(name.data());
    }
    ~RuntimeDirectoryTest() override { std::filesystem::remove_all(root); }
    std::filesystem::path root;
};

TEST_F(RuntimeDirectoryTest, IsCreatedForItsOwnerOnly) {
    const auto directory = RuntimeDirectory::acquire(root / "ttmem");
    ASSERT_TRUE(directory) << directory.error().text;
    struct stat info {};
    ASSERT_EQ(stat((root / "ttmem").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0700u);
}

TEST_F(RuntimeDirectoryTest, ASecondDaemonIsRejectedWithThePidOfTheFirst) {
    const auto first = RuntimeDirectory::acquire(root / "ttmem");
    ASSERT_TRUE(first);
    const auto second = RuntimeDirectory::acquire(root / "ttmem");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().text, HasSubstr("process " + std::to_string(getpid())));
}

TEST_F(RuntimeDirectoryTest, IsFreeAgainAfterTheDaemonHasEnded) {
    { ASSERT_TRUE(RuntimeDirectory::acquire(root / "ttmem")); }
    EXPECT_TRUE(RuntimeDirectory::acquire(root / "ttmem"));
}

TEST_F(RuntimeDirectoryTest, AFileALinkOrADirectoryThatOthersCanWriteIsRejected) {
    std::filesystem::create_directory(root / "open");
    std::filesystem::permissions(root / "open", std::filesystem::perms::all);
    EXPECT_THAT(RuntimeDirectory::acquire(root / "open").error().text, HasSubstr("written by others"));
    std::filesystem::create_directory_symlink(root / "open", root / "link");
    EXPECT_THAT(RuntimeDirectory::acquire(root / "link").error().text, HasSubstr("is not a directory"));
    EXPECT_THAT(RuntimeDirectory::acquire(root / "missing" / "deeper").error().text,
                HasSubstr("--runtime-dir"));
}

TEST_F(RuntimeDirectoryTest, TheEnvironmentNamesItFirst) {
    setenv("TTMEM_RUNTIME_DIR", "/somewhere", 1);
    setenv("RUNTIME_DIRECTORY", "/of-the-unit/ttmem", 1);
    EXPECT_EQ(RuntimeDirectory::standard(), "/somewhere");
    unsetenv("TTMEM_RUNTIME_DIR");
    EXPECT_EQ(RuntimeDirectory::standard(), "/of-the-unit/ttmem");
    setenv("RUNTIME_DIRECTORY", "/run/of-another-unit", 1);
    EXPECT_NE(RuntimeDirectory::standard(), "/run/of-another-unit");
    unsetenv("RUNTIME_DIRECTORY");
    if (geteuid() == 0) {
        EXPECT_EQ(RuntimeDirectory::standard(), "/run/ttmem");
    } else {
        setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
        EXPECT_EQ(RuntimeDirectory::standard(), "/run/user/1/ttmem");
        unsetenv("XDG_RUNTIME_DIR");
        EXPECT_EQ(RuntimeDirectory::standard(), "/tmp/ttmem-" + std::to_string(geteuid()));
    }
}

}  // namespace
}  // namespace ttmem::daemon
