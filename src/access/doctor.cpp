// SPDX-License-Identifier: Apache-2.0
#include "access/doctor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "access/access.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"
#include "sources/stock_region/regions.hpp"

namespace ttmem::access {

namespace {

namespace fs = std::filesystem;
using view::Finding;

// All that the findings are about, looked up once.
struct Facts {
    std::shared_ptr<const census::Driver> driver;
    std::vector<std::string> libraries;
    std::optional<std::string> fitting;    // the observer
    std::optional<std::string> unfitting;  // the first library that none fits
    bool has_daemon = false;
    size_t tracked = 0;
    size_t untracked = 0;
};

std::string plural(size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

Finding about_driver(const Facts& facts) {
    if (!facts.driver) {
        return {"driver", "problem",
                "the kernel driver tt-kmd is not loaded: there is no /sys/class/tenstorrent ('modprobe "
                "tenstorrent')"};
    }
    if (facts.driver->devices.empty()) {
        return {"driver", "problem", "tt-kmd is loaded and has no device"};
    }
    std::string boards;
    for (const census::DriverDevice& device : facts.driver->devices) {
        boards += (boards.empty() ? "" : ", ") + std::to_string(device.id) + " " +
                  device.board.value_or(device.arch.value_or("of unknown type"));
    }
    return {"driver", "ok",
            "tt-kmd with " + plural(facts.driver->devices.size(), "device", "devices") +
                " on the bus: " + boards};
}

// Asked of the file system: a device is never opened.
Finding about_permissions(const Facts& facts) {
    for (const census::DriverDevice& device :
         facts.driver ? facts.driver->devices : std::vector<census::DriverDevice>()) {
        const std::string path =
            sources::Host::standard_root() + "/dev/tenstorrent/" + std::to_string(device.id);
        if (::access(path.c_str(), R_OK | W_OK) != 0) {
            return {"permissions", "problem", "this user may not use " + path + ": " + strerror(errno)};
        }
    }
    const int file = memfd_create("ttmem-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    constexpr int kFutureWrite = 0x10;  // F_SEAL_FUTURE_WRITE
    const bool can_seal = file >= 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | kFutureWrite) == 0;
    if (file >= 0) {
        close(file);
    }
    if (!can_seal) {
        return {"permissions", "problem",
                "this kernel can't hold segments (sealed memfd): tracking needs Linux 5.1"};
    }
    return getuid() == 0
               ? Finding{"permissions", "ok", "all processes can be read"}
               : Finding{"permissions", "note",
                         "this user's processes can be read; those of others are seen through the daemon"};
}

Finding about_processes(const Facts& facts) {
    std::string text = plural(facts.tracked, "tracked process", "tracked processes");
    if (facts.untracked != 0) {
        return {"processes", "note",
                text + ", and " + plural(facts.untracked, "process holds", "processes hold") +
                    " devices and report nothing ('ttmem ps' names them)"};
    }
    return {"processes", "ok", text};
}

Finding about_region() {
    const char* off = getenv("TT_METAL_SHM_TRACKING_DISABLED");
    if (off != nullptr && strcmp(off, "1") == 0) {
        return {"region", "note",
                "stock tt-metal writes no region: TT_METAL_SHM_TRACKING_DISABLED=1 is set here"};
    }
    size_t regions = 0;
    std::error_code problem;
    const std::string folder = sources::Host::standard_root() + sources::stock_region::kDefaultFolder;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        regions += sources::stock_region::asic_id_of(entry.path().filename().string()) ? 1u : 0u;
    }
    return {"region", "ok",
            regions == 0 ? "stock tt-metal may write its region; there is none on this host yet"
                         : "stock tt-metal has written " + plural(regions, "region", "regions") +
                               ": totals by process, where nothing better is known"};
}

Finding about_metal(const Facts& facts, const DoctorSettings& settings) {
    if (facts.libraries.empty()) {
        return {"tt-metal", "note",
                "no libtt_metal.so was found; name it, or its Python package's: ttmem doctor "
                "PATH/libtt_metal.so"};
    }
    const bool is_there = !settings.library || fs::exists(*settings.library);
    return {"tt-metal", is_there ? "ok" : "problem",
            facts.libraries.front() + (is_there ? "" : " is not there")};
}

Finding about_observer(const Facts& facts, const DoctorSettings& settings, const std::string& verdict) {
    if (!settings.observer) {
        return {"observer", "problem", "libttmem_observer.so is not installed beside this program"};
    }
    if (facts.fitting) {
        return {"observer", "ok", "it fits: " + *facts.fitting};
    }
    if (facts.unfitting) {
        return {"observer", "problem", verdict};
    }
    return {"observer", "note",
            "installed, and there is no tt-metal to compare it with: " + *settings.observer};
}

Finding about_daemon(Facts& facts) {
    const auto daemon = self();
    facts.has_daemon = daemon.has_value();
    if (!daemon) {
        return {"daemon", "note",
                "none runs: figures are read directly, and there is no history and no post-mortem"};
    }
    return {"daemon", "ok",
            "ttmemd " + daemon->view.version + " runs as process " + std::to_string(daemon->view.pid) +
                " and knows " + plural(daemon->view.processes, "process", "processes")};
}

void choose_next(const Facts& facts, view::DoctorView& view) {
    if (facts.unfitting && !facts.fitting) {
        view.next =
            "cmake -S . -B build -DTTMEM_TT_METALIUM=<where tt-metalium is installed> && cmake --build build";
        view.next_why = "in the source of ttmem, for an observer of this tt-metal";
    } else if (!facts.driver && facts.libraries.empty()) {
        view.next = "ttmem demo";
        view.next_why = "to see it without an accelerator";
    } else if (facts.driver && !facts.has_daemon) {
        view.next = "systemctl start ttmemd";
        view.next_why = "for history, post-mortems and the processes of all users";
    } else if (facts.untracked != 0) {
        view.next = "ttmem ps";
        view.next_why = "to see who holds devices without a word";
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
    if (const char* home = getenv("TT_METAL_HOME")) {
        for (const char* below : {"/build/lib", "/build_Release/lib", "/lib"}) {
            folders.push_back(std::string(home) + below);
        }
    }
    const char* path = getenv("LD_LIBRARY_PATH");
    for (std::string rest = path != nullptr ? path : ""; !rest.empty();) {
        const size_t colon = rest.find(':');
        folders.push_back(rest.substr(0, colon));
        rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    // Of a virtual environment that is active: python3.x/site-packages/ttnn.
    if (const char* environment = getenv("VIRTUAL_ENV")) {
        std::error_code problem;
        for (const fs::directory_entry& python :
             fs::directory_iterator(std::string(environment) + "/lib", problem)) {
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
    facts.driver = sources::Host().look().driver;
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
