// SPDX-License-Identifier: Apache-2.0
#include "base/standard_error.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

namespace ttmem::base {
namespace {

// Runs `open` without a descriptor 2, so that the file that it opens gets this number, as in a program that closed its
// error stream. Then writes a line.
enum class Written { no, yes, broken };
Written write_where_two_is(const std::function<int()>& open, const std::function<off_t()>& length) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        if (open() != STDERR_FILENO) {
            _exit(static_cast<int>(Written::broken));
        }
        const off_t before = length();
        write_to_standard_error("line\n", 5);
        const off_t added = length() - before;
        _exit(static_cast<int>(added == 0 ? Written::no : added == 5 ? Written::yes : Written::broken));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? static_cast<Written>(WEXITSTATUS(status)) : Written::broken;
}

off_t file_length() {
    struct stat info {};
    return fstat(STDERR_FILENO, &info) == 0 ? info.st_size : -1;
}

Written write_to_file(int flags) {
    char path[] = "/tmp/ttmem-test-XXXXXX";
    const int made = mkstemp(path);
    EXPECT_GE(made, 0);
    close(made);
    const Written written = write_where_two_is([&] { return ::open(path, flags); }, file_length);
    unlink(path);
    return written;
}

TEST(StandardError, AFileOfAShellGetsTheLine) {
    EXPECT_EQ(write_to_file(O_WRONLY), Written::yes);
    EXPECT_EQ(write_to_file(O_WRONLY | O_APPEND), Written::yes);
}

TEST(StandardError, AFileThatTheProgramReadsAndWritesGetsNothing) {
    EXPECT_EQ(write_to_file(O_RDWR), Written::no);
    EXPECT_EQ(write_to_file(O_RDWR | O_APPEND), Written::no);
}

TEST(StandardError, AFileThatAnExecWouldCloseWasNotThereAtTheStart) {
    EXPECT_EQ(write_to_file(O_WRONLY | O_CLOEXEC), Written::no);
}

TEST(StandardError, AClosedStreamIsNoError) {
    EXPECT_EQ(write_where_two_is([] { return STDERR_FILENO; }, [] { return off_t{0}; }), Written::no);
}

std::array<int, 2> g_ends;  // the reading end, and the one that becomes descriptor 2

off_t waiting() {
    char buffer[64];
    const ssize_t got = recv(g_ends[0], buffer, sizeof buffer, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 ? 0 : got;
}

TEST(StandardError, APipeGetsTheLine) {
    ASSERT_EQ(pipe(g_ends.data()), 0);
    const auto unread = [] {
        pollfd end{g_ends[0], POLLIN, 0};
        return poll(&end, 1, 0) == 1 ? off_t{5} : off_t{0};
    };
    EXPECT_EQ(write_where_two_is([] { return dup(g_ends[1]); }, unread), Written::yes);
    close(g_ends[0]);
    close(g_ends[1]);
}

TEST(StandardError, ASocketOfTheJournalGetsTheLine) {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, g_ends.data()), 0);
    EXPECT_EQ(write_where_two_is([] { return dup(g_ends[1]); }, waiting), Written::yes);
    close(g_ends[0]);
    close(g_ends[1]);
}

TEST(StandardError, AConnectionOfTheProgramGetsNothing) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(bind(listener, raw, length), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(getsockname(listener, raw, &length), 0);
    g_ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(g_ends[1], raw, length), 0);
    g_ends[0] = accept(listener, nullptr, nullptr);
    ASSERT_GE(g_ends[0], 0);
    EXPECT_EQ(write_where_two_is([] { return dup(g_ends[1]); }, waiting), Written::no);
    close(g_ends[0]);
    close(g_ends[1]);
    close(listener);
}

TEST(StandardError, ATerminalIsOneAndAnotherDeviceIsNot) {
    const auto is_one = [](int device) {
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            dup2(device, STDERR_FILENO);
            _exit(has_standard_error() ? 1 : 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        close(device);
        return WEXITSTATUS(status) == 1;
    };
    EXPECT_FALSE(is_one(open("/dev/zero", O_RDWR)));
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal, 0);
    EXPECT_TRUE(is_one(terminal));
}

}  // namespace
}  // namespace ttmem::base
