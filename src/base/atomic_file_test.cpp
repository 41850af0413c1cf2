// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ttmem::base {
namespace {

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AtomicFile, ReplacesTheTextAndCreatesFolders) {
    std::string folder = testing::TempDir() + "atomic-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/a/b/file";
    EXPECT_TRUE(write_file_atomically(path, "first\n"));
    EXPECT_TRUE(write_file_atomically(path, "second\n"));
    EXPECT_EQ(text_of_file(path), "second\n");
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
    std::filesystem::remove_all(folder);
}

TEST(AtomicFile, HasTheModeThatIsAskedForWhateverTheUmask) {
    std::string folder = testing::TempDir() + "atomic-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const mode_t before = umask(0077);
    EXPECT_TRUE(write_file_atomically(folder + "/file", "text", 0644));
    umask(before);
    struct stat info {};
    ASSERT_EQ(stat((folder + "/file").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0644u);
    std::filesystem::remove_all(folder);
}

TEST(AtomicFile, ReportsAFolderThatCanNotBeMade) {
    EXPECT_FALSE(write_file_atomically("/proc/no-such-folder/file", "text"));
}

}  // namespace
}  // namespace ttmem::base
