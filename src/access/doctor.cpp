// SPDX-License-Identifier: Apache-2.0
#include "access/doctor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "access/access.hpp"
#include "base/environment.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"
#include "sources/stock_region/regions.hpp"
#include "view/text/format.hpp"

namespace ttmem::access {

namespace {

namespace fs = std::filesystem;
using view::Finding;
using view::FindingState;

// The data for all findings, read once.
struct Facts {
    std::shared_ptr<const census::Driver> driver;
    std::vector<std::string> libraries;
    std::optional<std::string> fitting;    // the observer that fits
    std::optional<std::string> unfitting;  // the first library without a fitting observer
    bool has_daemon = false;
    size_t tracked = 0;
    size_t untracked = 0;
};

Finding about_driver(const Facts& facts) {
    if (!facts.driver) {
        return {"driver", FindingState::problem,
                "the kernel driver tt-kmd is not loaded: there is no /sys/class/tenstorrent ('modprobe "
                "tenstorrent')"};
    }
    if (facts.driver->devices.empty()) {
        return {"driver", FindingState::problem, "tt-kmd is loaded but has no device"};
    }
    std::string boards;
    for (const census::DriverDevice& device : facts.driver->devices) {
        boards += (boards.empty() ? "" : ", ") + std::to_string(device.id) + " " +
                  device.board.value_or(device.arch.value_or("of unknown type"));
    }
    return {"driver", FindingState::ok,
            "tt-kmd with " + view::format_count(facts.driver->devices.size(), "device", "devices") +
                " on the bus: " + boards};
}

// Checks permissions through the file system, because a device must not be opened.
Finding about_permissions(const Facts& facts) {
    for (const census::DriverDevice& device :
         facts.driver ? facts.driver->devices : std::vector<census::DriverDevice>()) {
        const std::string path =
            sources::HostReader::standard_root() + "/dev/tenstorrent/" + std::to_string(device.id);
        if (::access(path.c_str(), R_OK | W_OK) != 0) {
            return {"permissions", FindingState::problem,
                    "this user may not use " + path + ": " + strerror(errno)};
        }
    }
    const int file = memfd_create("ttmem-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    constexpr int kFutureWrite = 0x10;  // F_SEAL_FUTURE_WRITE
    const bool can_seal = file >= 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | kFutureWrite) == 0;
    if (file >= 0) {
        close(file);
    }
    if (!can_seal) {
        return {"permissions", FindingState::problem,
                "this kernel can't hold segments (sealed memfd): tracking needs Linux 5.1"};
    }
    return getuid() == 0
               ? Finding{"permissions", FindingState::ok, "all processes can be read"}
               : Finding{
                     "permissions", FindingState::note,
                     "only processes of this user can be read directly; the daemon shows those of others"};
}

Finding about_processes(const Facts& facts) {
    std::string text = view::format_count(facts.tracked, "tracked process", "tracked processes");
    if (facts.untracked != 0) {
        return {"processes", FindingState::note,
                text + "; " +
                    view::format_count(facts.untracked, "process has devices open and reports nothing",
                                       "processes have devices open and report nothing") +
                    " ('ttmem ps' lists them, 'ttmem run -- COMMAND' tracks a command)"};
    }
    return {"processes", FindingState::ok, text};
}

Finding about_region() {
    const char* off = base::environment("TT_METAL_SHM_TRACKING_DISABLED");
    if (off != nullptr && strcmp(off, "1") == 0) {
        return {"region", FindingState::note,
                "stock tt-metal writes no region: TT_METAL_SHM_TRACKING_DISABLED=1 is set here"};
    }
    size_t regions = 0;
    std::error_code problem;
    const std::string folder = sources::HostReader::standard_root() + sources::stock_region::kDefaultFolder;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        regions += sources::stock_region::asic_id_of(entry.path().filename().string()) ? 1u : 0u;
    }
    return {"region", FindingState::ok,
            regions == 0 ? "no region of a stock tt-metal on this host yet"
                         : "stock tt-metal has written " + view::format_count(regions, "region", "regions") +
                               ": totals per process, used where nothing more exact is known"};
}

Finding about_metal(const Facts& facts, const DoctorSettings& settings) {
    if (facts.libraries.empty()) {
        return {"tt-metal", FindingState::note,
                "no libtt_metal.so found; give its path: ttmem doctor PATH/libtt_metal.so"};
    }
    const bool is_there = !settings.library || fs::exists(*settings.library);
    return {"tt-metal", is_there ? FindingState::ok : FindingState::problem,
            facts.libraries.front() + (is_there ? "" : " does not exist")};
}

Finding about_observer(const Facts& facts, const DoctorSettings& settings, const std::string& verdict) {
    if (!settings.observer) {
        return {"observer", FindingState::problem, "libttmem_observer.so is not installed with this program"};
    }
    if (facts.fitting) {
        return {"observer", FindingState::ok, "it fits: " + *facts.fitting};
    }
    if (facts.unfitting) {
        return {"observer", FindingState::problem, verdict};
    }
    return {"observer", FindingState::note,
            "installed, but no tt-metal was found to check it with: " + *settings.observer};
}

Finding about_daemon(Facts& facts) {
    const auto daemon = ask<view::Self>();
    facts.has_daemon = daemon.has_value();
    if (!daemon) {
        return {"daemon", FindingState::note,
                "not running: no history and no post-mortems; figures are read directly"};
    }
    if (const auto& recorder = daemon->view.flight_recorder; recorder && !recorder->problem.empty()) {
        return {"daemon", FindingState::problem, "its flight recorder has stopped: " + recorder->problem};
    }
    const view::HistoryFile& history = daemon->view.history;
    if (history.state == view::HistoryState::stopped || !history.set_aside.empty()) {
        return {"daemon",
                history.state == view::HistoryState::stopped ? FindingState::problem : FindingState::note,
                "ttmemd " + daemon->view.version + " is running as process " +
                    std::to_string(daemon->view.pid) +
                    (history.state == view::HistoryState::stopped
                         ? ", but history is not kept: " + history.problem
                         : ", and has put a damaged history aside: " + history.set_aside)};
    }
    return {"daemon", FindingState::ok,
            "ttmemd " + daemon->view.version + " is running as process " + std::to_string(daemon->view.pid) +
                " and tracks " + view::format_count(daemon->view.processes, "process", "processes")};
}

// The Debian package installs one, the archive does not.
bool has_service() {
    constexpr std::array<const char*, 2> kFolders = {"/usr/lib/systemd/system", "/etc/systemd/system"};
    return std::any_of(kFolders.begin(), kFolders.end(), [](const char* folder) {
        const std::string unit = sources::HostReader::standard_root() + folder + "/ttmemd.service";
        return ::access(unit.c_str(), F_OK) == 0;
    });
}

void choose_next(const Facts& facts, view::DoctorView& view) {
    if (facts.unfitting && !facts.fitting) {
        view.next = "ttmem observer build <where tt-metal is installed, or its source>";
        view.next_why = "if the parts of this tt-metal are elsewhere, which its headers show";
    } else if (!facts.driver && facts.libraries.empty()) {
        view.next = "ttmem demo";
        view.next_why = "to try ttmem without an accelerator";
    } else if (facts.driver && !facts.has_daemon && has_service()) {
        view.next = "systemctl start ttmemd";
        view.next_why = "for history, post-mortems and the processes of all users";
    } else if (facts.driver && !facts.has_daemon) {
        view.next = "ttmemd &";
        view.next_why = "for history and post-mortems of your own processes, as no service is installed";
    } else if (facts.untracked != 0) {
        view.next = "ttmem run -- python3 model.py";
        view.next_why = "with a program that reports nothing ('ttmem ps' lists those that run)";
    } else {
        view.next = "ttmem run -- python3 model.py";
        view.next_why = "with your own program";
    }
}

void count_processes(Facts& facts) {
    const census::Census census = sources::segments::census_of(sources::segments::discover(sources::Proc()));
    facts.tracked = census.processes.size();
    for (const census::Holder& holder :
         facts.driver ? facts.driver->holders : std::vector<census::Holder>()) {
        facts.untracked += std::none_of(census.processes.begin(), census.processes.end(),
                                        [&](const auto& process) {
                                            return process.identity.is_same_process(holder.identity);
                                        })
                               ? 1u
                               : 0u;
    }
}

}  // namespace

std::vector<std::string> find_metal_libraries() {
    std::vector<std::string> folders;
    if (const char* home = base::environment("TT_METAL_HOME")) {
        for (const char* below : {"/build/lib", "/build_Release/lib", "/lib"}) {
            folders.push_back(std::string(home) + below);
        }
    }
    const char* path = base::environment("LD_LIBRARY_PATH");
    for (std::string rest = path != nullptr ? path : ""; !rest.empty();) {
        const size_t colon = rest.find(':');
        folders.push_back(rest.substr(0, colon));
        rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    // In an active virtual environment: python3.x/site-packages/ttnn.
    if (const char* virtual_environment = base::environment("VIRTUAL_ENV")) {
        std::error_code problem;
        for (const fs::directory_entry& python :
             fs::directory_iterator(std::string(virtual_environment) + "/lib", problem)) {
            for (const char* below :
                 {"/site-packages/ttnn/build/lib", "/site-packages/ttnn.libs", "/site-packages/ttnn"}) {
                folders.push_back(python.path().string() + below);
            }
        }
    }
    folders.insert(folders.end(),
                   {"/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/opt/tenstorrent/lib"});
    std::vector<std::string> found;
    for (const std::string& folder : folders) {
        for (const char* name : {"/libtt_metal.so", "/_ttnncpp.so"}) {
            if (!folder.empty() && ::access((folder + name).c_str(), R_OK) == 0) {
                found.push_back(folder + name);
            }
        }
    }
    return found;
}

view::DoctorView examine_host(const DoctorSettings& settings) {
    Facts facts;
    facts.driver = sources::HostReader().read().driver;
    facts.libraries = settings.library ? std::vector<std::string>{*settings.library} : find_metal_libraries();
    count_processes(facts);
    std::string verdict;
    if (settings.observer && !facts.libraries.empty() &&
        ::access(facts.libraries.front().c_str(), R_OK) == 0) {
        const auto [fits, text] = settings.probe(facts.libraries.front());
        (fits ? facts.fitting : facts.unfitting) = text;
        verdict = text;
    }
    view::DoctorView view;
    view.origin = view::read_here();
    view.findings = {about_driver(facts),
                     about_permissions(facts),
                     about_metal(facts, settings),
                     about_observer(facts, settings, verdict),
                     about_region(),
                     about_daemon(facts),
                     about_processes(facts)};
    choose_next(facts, view);
    return view;
}

}  // namespace ttmem::access
