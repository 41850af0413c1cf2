// SPDX-License-Identifier: Apache-2.0
#include "access/run_arrivals.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/environment.hpp"
#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"
#include "base/unix_socket.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::access {

namespace segments = sources::segments;
using base::Error;

namespace {

constexpr int kBacklog = 128;
constexpr size_t kMostProcesses = 1024;  // each keeps its segment in memory
constexpr char kSocketName[] = "/announce.sock";
constexpr char kLibraryLink[] = "/lib";
constexpr char kPreloadSeparators[] = " :";

std::string folder_template() {
    const char* runtime = base::environment("XDG_RUNTIME_DIR");
    const bool is_usable = runtime != nullptr && runtime[0] == '/' && strlen(runtime) < 64 &&
                           strpbrk(runtime, kPreloadSeparators) == nullptr && ::access(runtime, W_OK) == 0;
    return std::string(is_usable ? runtime : "/tmp") + "/ttmem-run-XXXXXX";
}

uint32_t parent_of(const sources::Proc& proc, uint32_t pid) {
    const auto folder = proc.open(pid);
    const std::string stat = folder ? folder->read("stat").value_or("") : "";
    return static_cast<uint32_t>(base::stat_number(stat.data(), stat.size(), base::StatField::parent));
}

bool is_below(const sources::Proc& proc, uint32_t pid, uint32_t ancestor) {
    constexpr int kDeepest = 128;
    for (int i = 0; i < kDeepest && pid > 1; ++i) {
        if (pid == ancestor) {
            return true;
        }
        pid = parent_of(proc, pid);
    }
    return false;
}

}  // namespace

base::Expected<RunArrivals> RunArrivals::listen() {
    std::string folder = folder_template();
    if (mkdtemp(folder.data()) == nullptr) {
        return base::error(Error::Code::failed,
                           "can't make a folder like " + folder + ": " + strerror(errno));
    }
    base::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    RunArrivals arrivals(std::move(folder), std::move(listener));
    const std::string path = arrivals.folder_ + kSocketName;
    if (!arrivals.listener_ || !base::UnixAddress(path.c_str()).bind(arrivals.listener_.get()) ||
        ::listen(arrivals.listener_.get(), kBacklog) != 0) {
        return base::error(Error::Code::failed, "can't listen at " + path + ": " + strerror(errno));
    }
    return arrivals;
}

RunArrivals::~RunArrivals() {
    if (!folder_.empty()) {
        unlink((folder_ + kSocketName).c_str());
        unlink((folder_ + kLibraryLink).c_str());
        rmdir(folder_.c_str());
    }
}

std::string RunArrivals::preload_name_of(const std::string& library) const {
    if (library.find_first_of(kPreloadSeparators) == std::string::npos) {
        return library;
    }
    const std::filesystem::path path(library);
    const std::string link = folder_ + kLibraryLink;
    return symlink(path.parent_path().c_str(), link.c_str()) == 0 ? link + "/" + path.filename().string()
                                                                  : library;
}

void RunArrivals::add_to(std::vector<pollfd>& polled) const {
    polled.push_back({listener_.get(), POLLIN, 0});
    for (const base::Descriptor& connection : waiting_) {
        polled.push_back({connection.get(), POLLIN, 0});
    }
}

void RunArrivals::accept_processes() {
    while (true) {
        base::Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!connection) {
            break;
        }
        waiting_.push_back(std::move(connection));
    }
    std::erase_if(waiting_, [this](const base::Descriptor& connection) { return take_from(connection); });
}

// Returns true if nothing more will arrive on this connection.
bool RunArrivals::take_from(const base::Descriptor& connection) {
    auto file = segments::receive_segment(connection);
    if (!file) {
        return file.error().code != Error::Code::unfinished;
    }
    const auto examined = segments::examine_file(*file);
    auto peer = segments::peer_of(connection);
    if (!examined || !peer || known_.contains(examined->id)) {
        return true;
    }
    if (auto attached = segments::attach(proc_, std::move(*peer), std::move(*file))) {
        add(std::move(*attached));
    }
    return true;
}

void RunArrivals::add(segments::AttachedSegment attached) {
    if (attached_.size() >= kMostProcesses) {
        ++dropped_;
        return;
    }
    if (known_.insert(attached.file.id).second) {
        attached_.push_back(std::move(attached));
    }
    assert(known_.size() == attached_.size());
}

void RunArrivals::scan_for_children_of(pid_t ancestor) {
    for (segments::AttachedSegment& attached : segments::discover(proc_, known_).attached) {
        if (is_below(proc_, attached.process.identity.pid, static_cast<uint32_t>(ancestor))) {
            add(std::move(attached));
        }
    }
}

census::Census RunArrivals::census() const {
    census::Census census;
    for (const segments::AttachedSegment& attached : attached_) {
        census.processes.push_back(attached.process);
        if (!attached.handle || base::has_ended(attached.handle)) {
            census.processes.back().state = census::ProcessState::dead;
        }
    }
    std::stable_sort(census.processes.begin(), census.processes.end(),
                     [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    if (dropped_ != 0) {
        census.omissions.push_back({0, census::Reason::too_many_processes, std::to_string(dropped_)});
    }
    return census;
}

}  // namespace ttmem::access
