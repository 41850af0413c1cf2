// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "access/access.hpp"
#include "base/descriptor.hpp"
#include "cli/output.hpp"
#include "cli/sim.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

constexpr char kBusiestStep[] = "decode 1";
constexpr int kStepMs = 1000;

// The simulated runtime as a child that stops at every step until it is told to go on. It ends with this process.
class Workload {
public:
    static std::optional<Workload> start() {
        int commands[2];
        int words[2];
        if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0) {
            return std::nullopt;
        }
        Workload workload;
        const pid_t parent = getpid();
        workload.pid_ = fork();
        if (workload.pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {
                dup2(commands[0], STDIN_FILENO);
                dup2(words[1], STDOUT_FILENO);
                _exit(run_sim(
                    {"transformer-dp4", "--board", "t3000", "--pause-at", "all", "--repeat", "1000000"}));
            }
            _exit(1);
        }
        close(commands[0]);
        close(words[1]);
        workload.commands_ = base::Descriptor(commands[1]);
        workload.words_ = base::Descriptor(words[0]);
        return workload.pid_ > 0 ? std::optional(std::move(workload)) : std::nullopt;
    }

    Workload(Workload&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)),
          commands_(std::move(other.commands_)),
          words_(std::move(other.words_)),
          text_(std::move(other.text_)) {}
    Workload& operator=(Workload&&) = delete;
    ~Workload() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    // Waits until it stops at a step; nothing where it has ended.
    std::optional<std::string> step() {
        constexpr char kPaused[] = "paused: ";
        while (true) {
            const size_t end = text_.find('\n');
            if (end != std::string::npos) {
                const std::string line = text_.substr(0, end);
                text_.erase(0, end + 1);
                if (line.starts_with(kPaused)) {
                    return line.substr(sizeof kPaused - 1);
                }
                continue;
            }
            char buffer[4096];
            const ssize_t got = read(words_.get(), buffer, sizeof buffer);
            if (got <= 0) {
                return std::nullopt;
            }
            text_.append(buffer, static_cast<size_t>(got));
        }
    }

    bool go_on() { return write(commands_.get(), "\n", 1) == 1; }

private:
    Workload() = default;

    pid_t pid_ = -1;
    base::Descriptor commands_;
    base::Descriptor words_;
    std::string text_;
};

int show(const std::string& before, bool bytes) {
    const auto answer = access::status(access::Way::direct);
    if (!answer) {
        complain(answer.error().text);
        return 1;
    }
    return print(before + view::status_text(answer->view, style_of_output(bytes)));
}

// From the top of the screen, so that each picture replaces the last; what is left of that below goes.
int show_live(Workload& workload, bool bytes) {
    constexpr char kFromTheTop[] = "\033[H\033[2J";
    while (const auto step = workload.step()) {
        const std::string title =
            "A transformer on a simulated T3000, step '" + *step + "' (Ctrl-C ends)\n\n";
        if (const int failed = show(kFromTheTop + title, bytes); failed != 0) {
            return failed;
        }
        poll(nullptr, 0, kStepMs);
        workload.go_on();
    }
    complain("the simulated runtime has ended");
    return 1;
}

}  // namespace

int run_demo(bool bytes) {
    auto workload = Workload::start();
    if (!workload) {
        complain(std::string("can't start the simulated runtime: ") + strerror(errno));
        return 1;
    }
    if (isatty(STDOUT_FILENO) != 0) {
        return show_live(*workload, bytes);
    }
    while (const auto step = workload->step()) {
        if (*step == kBusiestStep) {
            return show("", bytes);
        }
        workload->go_on();
    }
    complain("the simulated runtime ended before it was busy");
    return 1;
}

}  // namespace ttmem::cli
