// SPDX-License-Identifier: Apache-2.0
#include "tests/support/child.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>

// A child exits with _exit(), at which ThreadSanitizer reports nothing, so a finding must end the process at once.
// NOLINTNEXTLINE(readability-identifier-naming): the sanitizer's runtime calls this name
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
    return "halt_on_error=1";
}

namespace ttmem::test {

namespace {

void flush_all() {
    std::cout.flush();
    std::fflush(nullptr);
}

[[noreturn]] void run_and_leave(const std::function<void()>& body, int error_pipe) {
    dup2(error_pipe, STDERR_FILENO);
    close(error_pipe);
    set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
    body();
    flush_all();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
}

std::string read_to_end(int pipe) {
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t got = read(pipe, buffer, sizeof buffer);
        if (got > 0) {
            text.append(buffer, static_cast<size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            return text;
        }
    }
}

}  // namespace

void set_environment(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

void unset_environment(const char* variable) { unsetenv(variable); }

Outcome wait_for_child(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return outcome;
}

Outcome run_in_child(const std::function<void()>& body) {
    int ends[2];
    if (pipe(ends) != 0) {
        ADD_FAILURE() << "no pipe";
        return {};
    }
    flush_all();
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_and_leave(body, ends[1]);
    }
    close(ends[1]);
    const std::string err = read_to_end(ends[0]);
    close(ends[0]);
    if (child < 0) {
        ADD_FAILURE() << "no child";
        return {};
    }
    Outcome outcome = wait_for_child(child);
    outcome.err = err;
    return outcome;
}

void expect_passes_in_child(const std::function<void()>& body) {
    const Outcome outcome = run_in_child(body);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(outcome.err.empty()) << outcome.err;
}

}  // namespace ttmem::test
