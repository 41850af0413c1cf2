// SPDX-License-Identifier: Apache-2.0
#include "access/run_arrivals.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/environment.hpp"
#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "base/unix_socket.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::access {

namespace segments = sources::segments;
using base::Error;

namespace {

constexpr int kBacklog = 128;
constexpr size_t kMostFacts = 64;
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
    RunArrivals arrivals(std::move(folder), std::move(listener),
                         base::Descriptor(epoll_create1(EPOLL_CLOEXEC)));
    const std::string path = arrivals.folder_ + kSocketName;
    if (!arrivals.listener_ || !base::UnixAddress(path.c_str()).bind(arrivals.listener_.get()) ||
        ::listen(arrivals.listener_.get(), kBacklog) != 0 || !arrivals.watch(arrivals.listener_.get())) {
        return base::error(Error::Code::failed, "can't listen at " + path + ": " + strerror(errno));
    }
    return arrivals;
}

RunArrivals::~RunArrivals() {
    if (!folder_.empty()) {
        unlink((folder_ + kSocketName).c_str());
        unlink((folder_ + kLibraryLink).c_str());
        unlink((folder_ + base::kMissingFacts).c_str());
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

bool RunArrivals::watch(int file) const {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.fd = file;
    return epoll_ctl(events_.get(), EPOLL_CTL_ADD, file, &wanted) == 0;
}

void RunArrivals::take_events() {
    // One at a time: what has become ready meanwhile is behind what was ready before.
    epoll_event event{};
    while (epoll_wait(events_.get(), &event, 1, 0) == 1) {
        const int file = event.data.fd;
        ++order_;
        if (file == listener_.get()) {
            accept_all();
        } else if (const auto connection = waiting_.find(file); connection != waiting_.end()) {
            if (take_from(connection->second)) {
                waiting_.erase(connection);
            }
        } else {
            note_end(file);
        }
    }
}

// All of them, so that the listener's next place in the order is that of a later connection.
void RunArrivals::accept_all() {
    const uint64_t arrived = order_;
    while (true) {
        base::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) {
            return;
        }
        const int file = socket.get();
        PendingProcess connection{std::move(socket), arrived};
        if (!take_from(connection) && watch(file)) {
            waiting_.emplace(file, std::move(connection));
        }
    }
}

// Returns true if nothing more will arrive on this connection.
bool RunArrivals::take_from(const PendingProcess& connection) {
    auto file = segments::receive_segment(connection.socket);
    if (!file) {
        return file.error().code != Error::Code::unfinished;
    }
    const auto examined = segments::examine_file(*file);
    auto peer = segments::peer_of(connection.socket);
    if (!examined || !peer || known_.contains(examined->id)) {
        return true;
    }
    if (auto attached = segments::attach(proc_, std::move(*peer), std::move(*file))) {
        add(std::move(*attached), connection.arrived);
    }
    return true;
}

void RunArrivals::note_end(int handle) {
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, handle, nullptr);
    for (segments::AttachedSegment& attached : attached_) {
        if (attached.handle.get() == handle) {
            attached.process.lifetime.ended = order_;
        }
    }
}

void RunArrivals::add(segments::AttachedSegment attached, uint64_t arrived) {
    if (attached_.size() >= kMostProcesses) {
        ++dropped_;
        return;
    }
    if (known_.insert(attached.file.id).second) {
        attached.process.lifetime.arrived = arrived;
        if (!attached.handle) {
            attached.process.lifetime.ended = ++order_;  // before now
        } else {
            watch(attached.handle.get());
        }
        attached_.push_back(std::move(attached));
    }
    assert(known_.size() == attached_.size());
}

void RunArrivals::scan_for_children_of(pid_t ancestor) {
    for (segments::AttachedSegment& attached : segments::discover(proc_, known_).attached) {
        if (is_below(proc_, attached.process.identity.pid, static_cast<uint32_t>(ancestor))) {
            add(std::move(attached), 0);  // it may have been there from the beginning
        }
    }
}

std::vector<std::string> RunArrivals::missing_facts() const {
    constexpr std::string_view kSeparator = "; ";
    std::vector<std::string> facts;
    std::ifstream lines(folder_ + base::kMissingFacts);
    for (std::string line; facts.size() < kMostFacts && std::getline(lines, line);) {
        for (size_t start = 0; start < line.size();) {
            const size_t end = std::min(line.find(kSeparator, start), line.size());
            std::string fact = base::printable(line.substr(start, end - start));
            if (std::find(facts.begin(), facts.end(), fact) == facts.end()) {
                facts.push_back(std::move(fact));
            }
            start = end + kSeparator.size();
        }
    }
    return facts;
}

census::Census RunArrivals::census() const {
    census::Census census;
    for (const segments::AttachedSegment& attached : attached_) {
        census.processes.push_back(attached.process);
        if (!attached.handle || base::has_ended(attached.handle)) {
            census::Process& process = census.processes.back();
            process.state = census::ProcessState::dead;
            process.lifetime.ended = process.lifetime.ended.value_or(order_ + 1);
        }
    }
    std::stable_sort(census.processes.begin(), census.processes.end(),
                     [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    if (dropped_ != 0) {
        census.omissions.push_back(
            {0, census::Reason::too_many_processes, base::format_count(dropped_, "process", "processes")});
    }
    return census;
}

}  // namespace ttmem::access
