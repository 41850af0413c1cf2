// SPDX-License-Identifier: Apache-2.0
#include "access/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>

#include "tests/support/child.hpp"
#include "tests/support/seccomp.hpp"

namespace ttmem::access {
namespace {

using testing::HasSubstr;

TRACKED_TEST(Run, ACommandThatCanNotBeWatchedIsNotLeftBehind) {
    ASSERT_TRUE(test::refuse_system_call(SYS_pidfd_open, EMFILE));
    const auto end = run({.command = {"sleep", "20"}, .observer = std::nullopt, .limits = {}});
    ASSERT_FALSE(end);
    EXPECT_THAT(end.error().text, HasSubstr("can't start a process: Too many open files"));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the command still runs, or is a zombie";
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace ttmem::access
