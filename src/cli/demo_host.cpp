// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/sim_program.hpp"

namespace ttmem::cli {

namespace {

constexpr int kTickMs = 20;
constexpr int kStartTimeoutMs = 10'000;

// Replaces this process by ttmemd from the folder of this program, without output: the screen belongs to the dashboard.
int become_daemon(const std::filesystem::path& folder) {
    std::error_code problem;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path() / "ttmemd";
    const std::string classic_wire = folder / "classic.sock";
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        dup2(nowhere, stream);
    }
    execl(program.c_str(), "ttmemd", "--quiet", "--listen", "127.0.0.1:0", "--runtime-dir", folder.c_str(),
          "--classic-wire", classic_wire.c_str(), nullptr);
    return 1;
}

}  // namespace

std::optional<Child> Child::start(const std::function<int()>& body) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? body() : 1);
    }
    return pid > 0 ? std::optional(Child(pid)) : std::nullopt;
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

Child::~Child() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

Workload::Workload(Child child, base::Descriptor commands, base::Descriptor words)
    : child_(std::move(child)), commands_(std::move(commands)), words_(std::move(words)) {}

std::optional<Workload> Workload::start() {
    int commands[2];
    int words[2];
    if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0) {
        return std::nullopt;
    }
    auto child = Child::start([&] {
        dup2(commands[0], STDIN_FILENO);
        dup2(words[1], STDOUT_FILENO);
        return run_sim_program({"transformer-dp4", "--board", "t3000", "--devices", "8", "--pause-at", "all",
                                "--repeat", "1000000"});
    });
    close(commands[0]);
    close(words[1]);
    base::Descriptor to(commands[1]);
    base::Descriptor from(words[0]);
    return child ? std::optional(Workload(std::move(*child), std::move(to), std::move(from))) : std::nullopt;
}

std::optional<std::string> Workload::step() {
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

bool Workload::go_on() { return write(commands_.get(), "\n", 1) == 1; }

PrivateDaemon::PrivateDaemon(std::optional<Child> child, std::filesystem::path folder)
    : child_(std::move(child)), folder_(std::move(folder)) {}

std::optional<PrivateDaemon> PrivateDaemon::start() {
    std::error_code problem;
    std::string name = std::filesystem::temp_directory_path(problem) / "ttmem-demo-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        return std::nullopt;
    }
    setenv("TTMEM_RUNTIME_DIR", name.c_str(), 1);
    PrivateDaemon daemon(Child::start([&] { return become_daemon(name); }), name);
    for (int waited = 0; waited < kStartTimeoutMs; waited += kTickMs) {
        if (std::filesystem::exists(daemon.folder_ / "api.sock", problem)) {
            return daemon;
        }
        poll(nullptr, 0, kTickMs);
    }
    return std::nullopt;
}

PrivateDaemon::~PrivateDaemon() {
    child_.reset();
    if (!folder_.empty()) {
        std::error_code problem;
        std::filesystem::remove_all(folder_, problem);
    }
}

}  // namespace ttmem::cli
