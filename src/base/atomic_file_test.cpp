// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <gtest/gtest.h>

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

TEST(AtomicFile, ReportsAFolderThatCanNotBeMade) {
    EXPECT_FALSE(write_file_atomically("/proc/no-such-folder/file", "text"));
}

}  // namespace
}  // namespace ttmem::base
