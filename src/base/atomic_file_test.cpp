// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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
    const auto files = std::filesystem::directory_iterator(folder + "/a/b");
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing else is left";
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

TEST(AtomicFile, DoesNotWriteIntoAFileThatIsThere) {
    std::string folder = testing::TempDir() + "atomic-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/file";
    // As another user could prepare it: a file that everybody may read, which somebody has open.
    std::ofstream(path + ".new") << "before";
    ASSERT_EQ(chmod((path + ".new").c_str(), 0666), 0);
    std::ifstream opened(path + ".new");
    EXPECT_TRUE(write_file_atomically(path, "secret", 0600));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(opened), {}), "before");
    EXPECT_EQ(text_of_file(path), "secret");
    std::filesystem::remove_all(folder);
}

TEST(AtomicFile, ReportsAFolderThatCanNotBeMade) {
    EXPECT_FALSE(write_file_atomically("/proc/no-such-folder/file", "text"));
    EXPECT_EQ(errno, ENOENT);
}

TEST(AtomicFile, LeavesTheOldFileAndNoOtherWhereItCanNotBeReplaced) {
    std::string folder = testing::TempDir() + "atomic-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    std::filesystem::create_directories(folder + "/file/below");  // no file replaces a folder
    EXPECT_FALSE(write_file_atomically(folder + "/file", "text"));
    EXPECT_EQ(errno, EISDIR);
    const auto files = std::filesystem::directory_iterator(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    std::filesystem::remove_all(folder);
}

TEST(AtomicFile, DoesNotWriteThroughALinkThatSomeoneElseMade) {
    std::string folder = testing::TempDir() + "atomic-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/file";
    std::ofstream(folder + "/other") << "untouched";
    std::filesystem::create_symlink(folder + "/other",
                                    path + "." + std::to_string(gettid()) + kUnfinishedFile);
    EXPECT_TRUE(write_file_atomically(path, "text"));
    EXPECT_EQ(text_of_file(folder + "/other"), "untouched");
    EXPECT_EQ(text_of_file(path), "text");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ttmem::base
