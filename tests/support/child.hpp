// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process has one segment for its whole life, so each test of the client runs in a child of its own: it starts with
// no segment, may set its environment, may die, and what it says on standard error is kept.

#include <sys/types.h>

#include <functional>
#include <string>

namespace ttmem::test {

struct Outcome {
    int code = -1;    // exit code, or -1 where a signal ended it
    int signal = 0;   // 0 where it exited
    std::string err;  // what it wrote to standard error
};

// Runs `body` in a forked child, with tracking on and no daemon to announce to. The child's code is 0, or 1 where an
// EXPECT or ASSERT in it failed (whose text goes to standard output as usual).
Outcome run_in_child(const std::function<void()>& body);

// The same, and the child must pass and say nothing.
void expect_passes_in_child(const std::function<void()>& body);

// Waits for a child that the test forked itself.
Outcome wait_for_child(pid_t child);

// Sets variables of the environment for the tracking that the process has not begun yet.
void set_environment(const char* variable, const std::string& value);
void unset_environment(const char* variable);

// A test whose body runs as expect_passes_in_child() says.
#define TRACKED_TEST(suite, name)                                                       \
    static void suite##_##name##_body();                                                \
    TEST(suite, name) { ::ttmem::test::expect_passes_in_child(suite##_##name##_body); } \
    static void suite##_##name##_body()

}  // namespace ttmem::test
