// SPDX-License-Identifier: Apache-2.0
#include "access/run_arrivals.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/pidfd.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::access {

namespace segments = sources::segments;
using base::Error;

namespace {

constexpr int kBacklog = 128;
constexpr size_t kMostProcesses = 1024;  // each keeps its segment in memory
constexpr char kSocketName[] = "/announce.sock";

std::string folder_template() {
    const char* runtime = getenv("XDG_RUNTIME_DIR");
    const bool is_usable =
        runtime != nullptr && runtime[0] == '/' && strlen(runtime) < 64 && ::access(runtime, W_OK) == 0;
    return std::string(is_usable ? runtime : "/tmp") + "/ttmem-run-XXXXXX";
}

uint32_t parent_of(const sources::Proc& proc, uint32_t pid) {
    const auto folder = proc.open(pid);
    const std::string stat = folder ? folder->read("stat").value_or("") : "";
    const size_t name_end = stat.rfind(')');
    return name_end == std::string::npos || name_end + 4 >= stat.size()
               ? 0
               : static_cast<uint32_t>(strtoul(stat.c_str() + name_end + 4, nullptr, 10));
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

// A process that has ended and is forgotten can't be asked who it was. What came came from this user's own command.
std::optional<segments::Attached> attach_forgotten(segments::FileId id, uint32_t pid, base::Descriptor handle,
                                                   base::Descriptor file) {
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    auto reader =
        segment::Reader::open(base::Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
    if (!reader) {
        return std::nullopt;
    }
    census::Identity identity;
    identity.pid = pid;
    identity.inner_pid = reader->pid();
    identity.start_time = reader->start_time();
    identity.uid = getuid();
    identity.user = std::to_string(getuid());
    identity.comm = "(ended)";
    return segments::Attached{
        id, std::move(handle), {std::move(identity), census::State::dead, std::move(*reader)}};
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
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = arrivals.folder_ + kSocketName;
    memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
    if (!arrivals.listener_ ||
        bind(arrivals.listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(arrivals.listener_.get(), kBacklog) != 0) {
        return base::error(Error::Code::failed, "can't listen at " + path + ": " + strerror(errno));
    }
    return arrivals;
}

RunArrivals::~RunArrivals() {
    if (!folder_.empty()) {
        unlink((folder_ + kSocketName).c_str());
        rmdir(folder_.c_str());
    }
}

void RunArrivals::add_to(std::vector<pollfd>& polled) const {
    polled.push_back({listener_.get(), POLLIN, 0});
    for (const base::Descriptor& connection : waiting_) {
        polled.push_back({connection.get(), POLLIN, 0});
    }
}

void RunArrivals::take_up() {
    while (true) {
        base::Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!connection) {
            break;
        }
        waiting_.push_back(std::move(connection));
    }
    std::erase_if(waiting_, [this](const base::Descriptor& connection) { return take_from(connection); });
}

// True: there is nothing more to come from it.
bool RunArrivals::take_from(const base::Descriptor& connection) {
    auto file = segments::receive_segment(connection);
    if (!file) {
        return file.error().code != Error::Code::unfinished;
    }
    ucred credentials{};
    socklen_t length = sizeof credentials;
    getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    const auto pid = static_cast<uint32_t>(credentials.pid);
    const auto id = segments::file_id(*file);
    if (!id || known_.contains(*id)) {
        return true;
    }
    base::Descriptor copy(fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
    auto peer = segments::peer_of(connection);
    if (peer) {
        auto attached = segments::attach(proc_, pid, std::move(peer->handle), std::move(*file));
        if (attached) {
            add(std::move(*attached));
            return true;
        }
        if (attached.error().code != Error::Code::gone) {
            return true;
        }
    }
    if (auto forgotten = attach_forgotten(*id, pid, {}, std::move(copy))) {
        add(std::move(*forgotten));
    }
    return true;
}

void RunArrivals::add(segments::Attached attached) {
    if (attached_.size() >= kMostProcesses) {
        ++dropped_;
        return;
    }
    if (known_.insert(attached.file).second) {
        attached_.push_back(std::move(attached));
    }
}

void RunArrivals::look_for_children_of(pid_t ancestor) {
    for (segments::Attached& attached : segments::discover(proc_, known_).attached) {
        if (is_below(proc_, attached.process.identity.pid, static_cast<uint32_t>(ancestor))) {
            add(std::move(attached));
        }
    }
}

census::Census RunArrivals::census() const {
    census::Census census;
    for (const segments::Attached& attached : attached_) {
        census.processes.push_back(attached.process);
        if (!attached.handle || base::has_ended(attached.handle)) {
            census.processes.back().state = census::State::dead;
        }
    }
    std::stable_sort(census.processes.begin(), census.processes.end(),
                     [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    if (dropped_ != 0) {
        census.skipped.push_back(
            {0, std::to_string(dropped_) + " processes of the command were too many", false});
    }
    return census;
}

}  // namespace ttmem::access
