// SPDX-License-Identifier: Apache-2.0
#include "tests/properties/in_child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace ttmem::properties {

namespace {

// A case takes milliseconds. A case that hangs is a failure, like a crash.
constexpr unsigned kLongestCaseSeconds = 60;

[[noreturn]] void be_the_child(int to, const std::function<std::string()>& body) {
    alarm(kLongestCaseSeconds);
    std::string text;
    try {
        text = body();
    } catch (const std::exception& problem) {
        text = std::string("exception: ") + problem.what();
    }
    for (size_t sent = 0; sent < text.size();) {
        const ssize_t done = write(to, text.data() + sent, text.size() - sent);
        if (done <= 0) {
            _exit(1);
        }
        sent += static_cast<size_t>(done);
    }
    _exit(0);
}

std::string read_all(int from) {
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
        text.append(buffer, got > 0 ? static_cast<size_t>(got) : 0);
    }
    return text;
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& body) {
    int ends[2];
    if (pipe(ends) != 0) {
        return std::string("no pipe: ") + strerror(errno);
    }
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return std::string("no child: ") + strerror(errno);
    }
    if (child == 0) {
        close(ends[0]);
        be_the_child(ends[1], body);
    }
    close(ends[1]);
    std::string text = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        return text + "the child died of signal " + std::to_string(WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
        return text + "the child ended with status " + std::to_string(WEXITSTATUS(status));
    }
    return text;
}

}  // namespace ttmem::properties
