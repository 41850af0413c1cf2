// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process has one segment for its whole life, so each test of the client runs in its own child. The child starts
// without a segment, may set its environment and may die, and its standard error is captured.

#include <sys/types.h>

#include <functional>
#include <string>

namespace ttmem::test {

struct Outcome {
    int code = -1;    // exit code, or -1 if a signal ended it
    int signal = 0;   // 0 if it exited
    std::string err;  // standard error
};

// Runs `body` in a forked child, with tracking enabled and no daemon to announce to. The exit code is 0, or 1 if an
// EXPECT or ASSERT failed in the child (the failure is printed to standard output as usual).
Outcome run_in_child(const std::function<void()>& body);

// The same, and the child must pass and print nothing to standard error.
void expect_passes_in_child(const std::function<void()>& body);

// Waits for a child that the test forked.
Outcome wait_for_child(pid_t child);

// Sets an environment variable. Call it before the process starts tracking.
void set_environment(const char* variable, const std::string& value);
void unset_environment(const char* variable);

// A test whose body runs in expect_passes_in_child().
#define TRACKED_TEST(suite, name)                                                       \
    static void suite##_##name##_body();                                                \
    TEST(suite, name) { ::ttmem::test::expect_passes_in_child(suite##_##name##_body); } \
    static void suite##_##name##_body()

}  // namespace ttmem::test
