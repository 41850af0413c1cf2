// SPDX-License-Identifier: Apache-2.0
#include "access/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

#include "access/restore_numbers.hpp"
#include "access/run_arrivals.hpp"
#include "access/run_headroom.hpp"
#include "base/environment.hpp"
#include "base/pidfd.hpp"
#include "base/signals.hpp"
#include "census/device_facts.hpp"
#include "census/groups.hpp"
#include "census/peak_contents.hpp"
#include "census/selection.hpp"
#include "sources/host.hpp"

namespace ttmem::access {

using base::Error;

namespace {

using std::chrono::steady_clock;

constexpr int kScanIntervalMs = 1000;

// The terminal sends signals to the whole process group, so the command already has them.
void forward_signals(const base::SignalDescriptor& signals, const base::Descriptor& child, pid_t pid) {
    while (const auto info = signals.next()) {
        if (info->ssi_code != SI_KERNEL && !base::has_ended(child)) {
            kill(pid, static_cast<int>(info->ssi_signo));
        }
    }
}

void set_environment(const std::optional<std::string>& preload, const std::string& folder, bool names) {
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    if (names) {
        setenv("TT_METAL_TRACE_ALLOC_TRACKING", "1", 1);
    }
    const char* outer = base::environment("TTMEM_RUN_DIR");
    setenv("TTMEM_RUN_DIR", (outer != nullptr ? folder + ":" + outer : folder).c_str(), 1);
    if (!preload) {
        return;
    }
    // Appended, because some libraries must be first.
    const char* before = base::environment("LD_PRELOAD");
    const std::string list = before != nullptr ? std::string(before) + ":" : "";
    if (list.find(*preload) == std::string::npos) {
        setenv("LD_PRELOAD", (list + *preload).c_str(), 1);
    }
}

[[noreturn]] void become(const RunSettings& settings, const std::optional<std::string>& preload,
                         const std::string& folder, const base::SignalDescriptor& signals, int error_pipe) {
    signals.restore_mask();
    signal(SIGPIPE, SIG_DFL);
    set_environment(preload, folder, settings.names);
    std::vector<std::string> words = settings.command;
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
    _exit(127);
}

base::Expected<RunEnd> start_failure(int error) {
    return base::error(Error::Code::failed, std::string("can't start a process: ") + strerror(error));
}

int reap(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Returns 0 if the command runs. The pipe closes on exec.
int start_error(const base::Descriptor& error_reader) {
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(error_reader.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

// Calls those that watch the processes. Returns the milliseconds until the next call; -1: nobody watches.
int watch(const RunSettings& settings, const RunArrivals& arrivals, RunHeadroom& headroom) {
    if (!settings.watch && !settings.headroom) {
        return -1;
    }
    const census::Census census = arrivals.census();
    int wait_ms = settings.watch ? settings.watch(census) : INT_MAX;
    if (settings.headroom) {
        wait_ms = std::min(wait_ms, headroom.follow(census));
    }
    return wait_ms;
}

void follow(const RunSettings& settings, RunArrivals& arrivals, RunHeadroom& headroom,
            const base::SignalDescriptor& signals, const base::Descriptor& child, pid_t pid) {
    int wait_ms = -1;  // until the next call of watch()
    steady_clock::time_point next_scan = steady_clock::now() + std::chrono::milliseconds(kScanIntervalMs);
    while (!base::has_ended(child)) {
        pollfd polled[] = {
            {child.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}, {arrivals.descriptor(), POLLIN, 0}};
        const bool waits_for_watch = wait_ms >= 0 && !arrivals.is_empty();
        poll(polled, std::size(polled),
             waits_for_watch       ? wait_ms
             : arrivals.is_empty() ? kScanIntervalMs
                                   : -1);
        forward_signals(signals, child, pid);
        arrivals.take_events();
        if (arrivals.is_empty() && steady_clock::now() >= next_scan) {
            arrivals.scan_for_children_of(pid);
            next_scan = steady_clock::now() + std::chrono::milliseconds(kScanIntervalMs);
        }
        wait_ms = watch(settings, arrivals, headroom);
    }
    // The child is still a zombie, so its last messages can be attributed to it.
    arrivals.take_events();
    watch(settings, arrivals, headroom);
}

// The devices of the command only.
census::Figures figures_of(const census::Census& census) {
    census::Figures figures = census::compute_figures(census, census::Depth::pools);
    std::erase_if(figures.devices, [](const census::DeviceFigures& device) {
        return std::none_of(device.memory.begin(), device.memory.end(),
                            [](const census::MemoryFigures& memory) { return memory.peak != 0; });
    });
    return figures;
}

std::vector<view::Leftover> left_behind(const census::Census& census) {
    std::vector<view::Leftover> left;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        census::GroupQuery query;
        const auto of = static_cast<census::Kind>(kind);
        query.kind = of;
        query.group = census::GroupBy::name;
        const auto page = census::list_groups(census, query);
        for (const census::Group& group : page ? page->groups : std::vector<census::Group>()) {
            if (group.count != 0) {
                const census::GroupMemory& memory = group.memory[kind];
                left.push_back({of, group.key, memory.used, memory.requested, memory.count});
            }
        }
    }
    return left;
}

// What the processes held when each had requested most. A name has the most of any process.
std::vector<view::PeakLayer> peak_layers(const census::Census& census, uint64_t now_ns) {
    std::vector<view::PeakLayer> layers;
    for (size_t i = 0; i < census::kDeviceKinds; ++i) {
        const auto kind = static_cast<census::Kind>(i);
        const auto page = census::find_peaks(census, {.kind = kind}, now_ns);
        std::map<std::string, uint64_t> names;
        for (const census::ProcessPeak& peak : page ? page->processes : std::vector<census::ProcessPeak>()) {
            for (const census::PeakName& name : peak.names) {
                names[name.name] = std::max(names[name.name], name.requested);
            }
        }
        const auto begin = static_cast<ptrdiff_t>(layers.size());
        for (const auto& [name, requested] : names) {
            layers.push_back({kind, name, requested});
        }
        std::stable_sort(layers.begin() + begin, layers.end(),
                         [](const auto& a, const auto& b) { return a.requested > b.requested; });
    }
    return layers;
}

std::vector<view::SmallBanks> small_banks(const census::Census& census) {
    std::vector<view::SmallBanks> banks;
    const auto selection = census::Selection::of(census, {});
    for (const census::DeviceTable::Device& device :
         selection ? selection->table().devices() : std::vector<census::DeviceTable::Device>()) {
        banks.push_back({device.id, census::bank_of(device.info, census::Kind::l1_small).banks});
    }
    return banks;
}

// Compares the limits with the peaks of each device.
void check_limits(view::RunView& view, const census::Census& census,
                  const std::vector<view::PeakLimit>& limits) {
    const bool is_partial =
        std::any_of(view.figures.inexact.begin(), view.figures.inexact.end(), view::may_hide_bytes);
    const auto bounds = census::compute_peak_bounds(census);
    for (const view::PeakLimit& limit : limits) {
        const size_t kind = census::index_of(limit.kind);
        for (const census::DeviceFigures& device : view.figures.devices) {
            const uint64_t peak = device.memory[kind].peak;
            const auto bound = std::find_if(bounds.begin(), bounds.end(),
                                            [&](const auto& one) { return one.device == device.id; });
            const std::optional<uint64_t> at_most =
                is_partial || bound == bounds.end() ? std::nullopt : bound->at_most[kind];
            if (peak > limit.bytes) {
                view.exceeded.push_back({device.id, limit.kind, peak, limit.bytes});
            } else if (!at_most || *at_most > limit.bytes) {
                view.undecided.push_back({device.id, limit.kind, peak, at_most, limit.bytes});
            }
        }
    }
}

// Bytes that are missing may have been in L1.
std::vector<view::LeastHeadroom> least_headroom(const view::RunView& view, const census::Census& census,
                                                RunHeadroom& headroom) {
    std::vector<view::LeastHeadroom> rows = headroom.finish(census);
    const bool is_partial =
        std::any_of(view.figures.inexact.begin(), view.figures.inexact.end(), view::may_hide_bytes);
    for (view::LeastHeadroom& row : rows) {
        row.at_least = is_partial ? std::nullopt : row.at_least;
    }
    return rows;
}

view::RunView look_back(const RunSettings& settings, census::Census census, RunHeadroom& headroom) {
    view::RunView view;
    view.origin = view::read_here();
    view.command = settings.command;
    if (census.processes.empty()) {
        return view;
    }
    // Devices have the numbers of the other views: those of the driver, and those of the daemon's table.
    if (const auto driver = sources::HostReader().read().driver) {
        census.driver = std::make_shared<census::Driver>(census::Driver{driver->devices, {}});
    }
    restore_numbers(census);
    view.figures = figures_of(census);
    view.left = left_behind(census);
    if (auto failures = census::list_failures(census, {.limit = 20})) {
        view.failures = std::move(failures->failures);
        view.failure_counts = std::move(failures->counts);
    }
    view.peak_by_name = peak_layers(census, view.origin.time_ns);
    view.small_banks = small_banks(census);
    check_limits(view, census, settings.limits);
    if (settings.headroom) {
        view.least_headroom = least_headroom(view, census, headroom);
    }
    return view;
}

}  // namespace

base::Expected<RunEnd> run(const RunSettings& settings) {
    assert(!settings.command.empty());
    auto arrivals = RunArrivals::listen();
    if (!arrivals) {
        return tl::unexpected(std::move(arrivals.error()));
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return base::error(Error::Code::failed, std::string("can't make a pipe: ") + strerror(errno));
    }
    base::Descriptor error_reader(ends[0]);
    base::Descriptor error_writer(ends[1]);
    const std::optional<std::string> preload =
        settings.observer ? std::optional(arrivals->preload_name_of(*settings.observer)) : std::nullopt;
    const base::SignalDescriptor signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    const steady_clock::time_point started = steady_clock::now();
    const pid_t pid = fork();
    if (pid == 0) {
        become(settings, preload, arrivals->folder(), signals, error_writer.get());
    }
    if (pid < 0) {
        return start_failure(errno);
    }
    error_writer = base::Descriptor();
    const base::Descriptor child = base::open_process(pid);
    if (!child) {
        // Its end can't be awaited together with the signals, so the command must not run.
        const int error = errno;
        kill(pid, SIGKILL);
        reap(pid);
        return start_failure(error);
    }
    RunEnd end;
    RunHeadroom headroom;
    end.start_error = start_error(error_reader);
    if (end.start_error == 0) {
        follow(settings, *arrivals, headroom, signals, child, pid);
    }
    const int status = reap(pid);
    if (end.start_error != 0) {
        return end;
    }
    end.view = look_back(settings, arrivals->census(), headroom);
    end.view.missing_facts = arrivals->missing_facts();
    end.view.lived_ns = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - started).count());
    if (WIFSIGNALED(status)) {
        end.view.signal = WTERMSIG(status);
    } else {
        end.view.exit_code = WEXITSTATUS(status);
    }
    return end;
}

}  // namespace ttmem::access
