// SPDX-License-Identifier: Apache-2.0
#include "access/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "access/run_arrivals.hpp"
#include "base/pidfd.hpp"
#include "sources/host.hpp"

namespace ttmem::access {

using base::Error;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 1000;
constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

// Blocks the signals that are passed on, so that they are read and not acted upon.
class Signals {
public:
    Signals() {
        sigset_t wanted;
        sigemptyset(&wanted);
        for (const int each : kPassedOn) {
            sigaddset(&wanted, each);
        }
        sigprocmask(SIG_BLOCK, &wanted, &before_);
        file_ = base::Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    ~Signals() { restore(); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    int file() const { return file_.get(); }

    // What the terminal sends, it sends to the whole group: the command has it already.
    void pass_on_to(const base::Descriptor& child, pid_t pid) const {
        signalfd_siginfo info{};
        while (read(file_.get(), &info, sizeof info) == sizeof info) {
            if (info.ssi_code != SI_KERNEL && !base::has_ended(child)) {
                kill(pid, static_cast<int>(info.ssi_signo));
            }
        }
    }

private:
    sigset_t before_{};
    base::Descriptor file_;
};

void set_environment(const RunSettings& settings, const std::string& folder) {
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    const char* outer = getenv("TTMEM_RUN_DIR");
    setenv("TTMEM_RUN_DIR", (outer != nullptr ? folder + ":" + outer : folder).c_str(), 1);
    if (!settings.observer) {
        return;
    }
    // Last, so that whoever must be first in a process still is.
    const char* before = getenv("LD_PRELOAD");
    const std::string list = before != nullptr && *before != '\0' ? std::string(before) + ":" : "";
    if (list.find(*settings.observer) == std::string::npos) {
        setenv("LD_PRELOAD", (list + *settings.observer).c_str(), 1);
    }
}

[[noreturn]] void become(const RunSettings& settings, const std::string& folder, const Signals& signals,
                         int told) {
    signals.restore();
    signal(SIGPIPE, SIG_DFL);
    set_environment(settings, folder);
    std::vector<std::string> words = settings.command;
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(told, &error, sizeof error);
    _exit(127);
}

// 0: it runs. The pipe closes itself when the command takes over.
int start_error(const base::Descriptor& told) {
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(told.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

void follow(RunArrivals& arrivals, const Signals& signals, const base::Descriptor& child, pid_t pid) {
    Clock::time_point look_at = Clock::now() + std::chrono::milliseconds(kLookEveryMs);
    while (!base::has_ended(child)) {
        std::vector<pollfd> polled = {{child.get(), POLLIN, 0}, {signals.file(), POLLIN, 0}};
        arrivals.add_to(polled);
        poll(polled.data(), polled.size(), arrivals.is_empty() ? kLookEveryMs : -1);
        signals.pass_on_to(child, pid);
        arrivals.take_up();
        if (arrivals.is_empty() && Clock::now() >= look_at) {
            arrivals.look_for_children_of(pid);
            look_at = Clock::now() + std::chrono::milliseconds(kLookEveryMs);
        }
    }
    arrivals.take_up();  // it is a zombie still, so that what it sent last can be told to be its own
}

// The devices of the command alone, under the numbers that the driver gives them.
census::Figures figures_of(census::Census census) {
    if (const auto driver = sources::Host().look().driver) {
        census.driver = std::make_shared<census::Driver>(census::Driver{driver->devices, {}});
    }
    census::Figures figures = census::count(census, census::Depth::pools);
    std::erase_if(figures.devices, [](const census::DeviceFigures& device) {
        return std::none_of(device.memory.begin(), device.memory.end(),
                            [](const census::MemoryFigures& memory) { return memory.peak != 0; });
    });
    return figures;
}

std::vector<view::LeftBehind> left_behind(const census::Census& census) {
    std::vector<view::LeftBehind> left;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        census::AllocationQuery query;
        query.kind = static_cast<census::Kind>(kind);
        query.group = census::GroupBy::name;
        const auto page = census::list_groups(census, query);
        for (const census::Group& group : page ? page->groups : std::vector<census::Group>()) {
            if (group.count != 0) {
                left.push_back({*query.kind, group.key, group.used, group.requested, group.count});
            }
        }
    }
    return left;
}

std::vector<view::Exceeded> exceeded(const census::Figures& figures, const std::vector<PeakLimit>& limits) {
    std::vector<view::Exceeded> result;
    for (const PeakLimit& limit : limits) {
        for (const census::DeviceFigures& device : figures.devices) {
            const uint64_t peak = device.memory[census::index_of(limit.kind)].peak;
            if (peak > limit.bytes) {
                result.push_back({device.id, limit.kind, peak, limit.bytes});
            }
        }
    }
    return result;
}

view::RunView look_back(const RunSettings& settings, const census::Census& census) {
    view::RunView view;
    view.origin = view::read_here();
    view.command = settings.command;
    if (census.processes.empty()) {
        return view;
    }
    view.figures = figures_of(census);
    view.left = left_behind(census);
    if (auto failures = census::list_failures(census, {.limit = 20})) {
        view.failures = std::move(failures->failures);
        view.failure_counts = std::move(failures->counts);
    }
    view.exceeded = exceeded(view.figures, settings.limits);
    return view;
}

}  // namespace

base::Expected<RunEnd> run(const RunSettings& settings) {
    auto arrivals = RunArrivals::listen();
    if (!arrivals) {
        return tl::unexpected(std::move(arrivals.error()));
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return base::error(Error::Code::failed, std::string("can't make a pipe: ") + strerror(errno));
    }
    base::Descriptor told(ends[0]);
    base::Descriptor tell(ends[1]);
    const Signals signals;
    const Clock::time_point started = Clock::now();
    const pid_t pid = fork();
    if (pid == 0) {
        become(settings, arrivals->folder(), signals, tell.get());
    }
    tell = base::Descriptor();
    const base::Descriptor child = pid > 0 ? base::open_process(pid) : base::Descriptor();
    if (!child) {
        return base::error(Error::Code::failed, std::string("can't start a process: ") + strerror(errno));
    }
    RunEnd end;
    end.start_error = start_error(told);
    if (end.start_error == 0) {
        follow(*arrivals, signals, child, pid);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (end.start_error != 0) {
        return end;
    }
    end.view = look_back(settings, arrivals->census());
    end.view.lived_ns = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started).count());
    if (WIFSIGNALED(status)) {
        end.view.signal = WTERMSIG(status);
    } else {
        end.view.exit_code = WEXITSTATUS(status);
    }
    return end;
}

}  // namespace ttmem::access
