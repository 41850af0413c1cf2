// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace ttmem::daemon {

using base::Descriptor;
using base::Error;

namespace {

constexpr int kClassicBacklog =
    1024;  // who finds it full waits in connect(), and that would be a traced application

Descriptor make_socket() {
    return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Whether nobody listens there any more. Only the kernel's refusal says so: one whose queue is full lives, and so may one who
// lets only his own in.
bool is_dead(const sockaddr_un& address) {
    const Descriptor probe = make_socket();
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
           errno == ECONNREFUSED;
}

// Why the path can't be taken as it is; removes what a dead server left.
std::optional<Error> make_way(const std::string& path, const sockaddr_un& address) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) {
        return std::nullopt;
    }
    if (!S_ISSOCK(info.st_mode)) {
        return Error{Error::Code::refused, path + " is there and is no socket"};
    }
    if (!is_dead(address)) {
        return Error{Error::Code::refused, "another server answers at " + path};
    }
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        return Error{Error::Code::failed,
                     "can't replace the dead socket " + path + ": " + std::strerror(errno)};
    }
    return std::nullopt;
}

}  // namespace

base::Expected<ClassicSocket> ClassicSocket::take(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return base::error(Error::Code::failed, "the path is too long for a socket: " + path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    if (auto problem = make_way(path, address)) {
        return tl::unexpected(std::move(*problem));
    }
    const auto failed = [&](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("can't ") + what + " " + path + ": " + std::strerror(errno));
    };
    ClassicSocket result;
    result.descriptor_ = make_socket();
    if (!result.descriptor_ ||
        bind(result.descriptor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return failed("bind");
    }
    struct stat info {};
    if (chmod(path.c_str(), 0666) != 0 || lstat(path.c_str(), &info) != 0 ||
        listen(result.descriptor_.get(), kClassicBacklog) != 0) {
        return failed("listen on");
    }
    result.path_ = path;
    result.device_ = info.st_dev;
    result.inode_ = info.st_ino;
    return result;
}

ClassicSocket::ClassicSocket(ClassicSocket&& other) noexcept { *this = std::move(other); }

ClassicSocket& ClassicSocket::operator=(ClassicSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
}

ClassicSocket::~ClassicSocket() {
    struct stat info {};
    if (!path_.empty() && lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ &&
        info.st_ino == inode_) {
        unlink(path_.c_str());
    }
}

}  // namespace ttmem::daemon
