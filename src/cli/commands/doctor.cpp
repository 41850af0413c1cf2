// SPDX-License-Identifier: Apache-2.0

#include "access/doctor.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/descriptor.hpp"
#include "cli/commands/commands.hpp"
#include "cli/observer.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

constexpr int kLoadingMs = 60'000;  // loading a large library from a slow disk

struct DoctorOptions {
    bool json = false;
    std::optional<std::string> library;
    std::optional<std::string> probed;  // set in the child process: the library to load
};

// Runs in a child process, because loading a foreign library may crash it.
int probe_here(const std::string& library) {
    using Probe = int(const char* library, char* text, size_t size);
    const auto observer = find_observer();
    void* const loaded = observer ? dlopen(observer->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    auto* const probe =
        loaded != nullptr ? reinterpret_cast<Probe*>(dlsym(loaded, "ttmem_observer_probe")) : nullptr;
    if (probe == nullptr) {
        const char* problem = dlerror();
        print(std::string("can't load the observer: ") + (problem != nullptr ? problem : "not found"));
        return 1;
    }
    char text[2048] = "";
    const int result = probe(library.c_str(), text, sizeof text);
    print(text);
    return result;
}

std::pair<bool, std::string> probe(const std::string& library) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return {false, "can't create a pipe to the process that loads the observer"};
    }
    base::Descriptor from(ends[0]);
    base::Descriptor to(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(to.get(), STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl("/proc/self/exe", "ttmem", "doctor", "--probe", library.c_str(), nullptr);
        _exit(127);
    }
    to = base::Descriptor();
    std::string text;
    char part[512];
    pollfd polled{from.get(), POLLIN, 0};
    while (poll(&polled, 1, kLoadingMs) == 1) {
        const ssize_t got = read(from.get(), part, sizeof part);
        if (got <= 0) {
            break;
        }
        text.append(part, static_cast<size_t>(got));
    }
    kill(pid, SIGKILL);  // it has answered, or timed out
    int status = 0;
    waitpid(pid, &status, 0);
    if (text.empty()) {
        return {false, "can't load " + library + ": the process that tried it ended without an answer"};
    }
    const bool fits = text.starts_with("+");
    return {fits, text.substr(1)};
}

int run_doctor(const DoctorOptions& options) {
    if (options.probed) {
        return probe_here(*options.probed);
    }
    access::DoctorSettings settings{.library = options.library, .observer = find_observer(), .probe = probe};
    if (settings.library) {
        std::error_code problem;
        settings.library = std::filesystem::absolute(*settings.library, problem).lexically_normal();
    }
    const view::DoctorView view = access::examine_host(settings);
    const int code =
        options.json ? print(view::to_json(view)) : print(view::doctor_text(view, style_of_output(false)));
    return view.has_problem() ? 1 : code;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
    add_command<DoctorOptions>(
        app, chosen, "doctor", "Check this host and suggest the next step",
        [](CLI::App& command, DoctorOptions& options) {
            command.add_flag("--json", options.json, "Print JSON, for scripts");
            command.add_option("library", options.library, "The tt-metal to check (libtt_metal.so)")
                ->type_name("FILE");
            command.add_option("--probe", options.probed)->group("");  // internal
        },
        run_doctor)
        ->footer(
            "Opens no device. Checks whether the observer fits a tt-metal by loading both in\n"
            "a separate process. The exit code is 1 if there is a problem.\n\n"
            "Examples:\n"
            "  ttmem doctor\n"
            "  ttmem doctor $TT_METAL_HOME/build/lib/libtt_metal.so");
}

}  // namespace ttmem::cli
