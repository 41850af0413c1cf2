// SPDX-License-Identifier: Apache-2.0
#include "sim/testing/paused_scenario_test_support.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace ttmem::sim::testing {
namespace {

// A line without its newline; empty at the end of the file.
std::optional<std::string> read_line(FILE* file) {
    std::string line;
    for (int c = getc(file); c != EOF; c = getc(file)) {
        if (c == '\n') {
            return line;
        }
        line.push_back(static_cast<char>(c));
    }
    return std::nullopt;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& string : strings) {
        result.push_back(string.data());
    }
    result.push_back(nullptr);
    return result;
}

}  // namespace

PausedScenario::PausedScenario(const std::string& program, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& variables) {
    char truth_path[] = "/tmp/ttmem-sim-truth-XXXXXX";
    const int truth = mkstemp(truth_path);
    EXPECT_GE(truth, 0);
    truth_path_ = truth_path;
    truth_file_ = fdopen(truth, "r");

    int to_child[2];
    int from_child[2];
    EXPECT_EQ(pipe2(to_child, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from_child, O_CLOEXEC), 0);

    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), {"--pause-at", "all", "--truth", truth_path_});
    std::vector<char*> argv = pointers(words);
    std::vector<std::string> settings = variables;

    pid_ = fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
        dup2(to_child[0], STDIN_FILENO);
        dup2(from_child[1], STDOUT_FILENO);
        for (std::string& setting : settings) {
            putenv(setting.data());
        }
        execv(program.c_str(), argv.data());
        std::fprintf(stderr, "can't start %s: %s\n", program.c_str(), std::strerror(errno));
        _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    input_ = to_child[1];
    output_ = fdopen(from_child[0], "r");
}

PausedScenario::~PausedScenario() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(input_);
    std::fclose(output_);
    std::fclose(truth_file_);
    unlink(truth_path_.c_str());
}

std::optional<std::string> PausedScenario::next_step() {
    if (started_) {
        // A scenario that died meanwhile is detected below, not by SIGPIPE.
        struct sigaction ignore {};
        struct sigaction before {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &ignore, &before);
        [[maybe_unused]] const ssize_t written = write(input_, "\n", 1);
        sigaction(SIGPIPE, &before, nullptr);
    }
    started_ = true;
    while (const auto line = read_line(output_)) {
        constexpr std::string_view kPaused = "paused: ";
        if (line->starts_with(kPaused)) {
            read_truth();
            EXPECT_EQ(truth_.at("step"), line->substr(kPaused.size()));
            return line->substr(kPaused.size());
        }
    }
    EXPECT_EQ(waitpid(pid_, &status_, 0), pid_);
    pid_ = -1;
    return std::nullopt;
}

void PausedScenario::read_truth() {
    // The file was read to its end before and has grown since.
    clearerr(truth_file_);
    std::optional<std::string> last;
    while (auto line = read_line(truth_file_)) {
        last = std::move(line);
    }
    ASSERT_TRUE(last) << "the truth was not written before the pause";
    truth_ = nlohmann::json::parse(*last);
}

}  // namespace ttmem::sim::testing
