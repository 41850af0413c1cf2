// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/unix_socket.hpp"

namespace ttmem::daemon {

using base::Descriptor;
using base::Error;

namespace {

// A client that finds the backlog full blocks in connect(), and clients are traced applications.
constexpr int kClassicBacklog = 1024;

Descriptor make_socket() {
    return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Whether no server listens any more. Only ECONNREFUSED means that: a server with a full backlog is alive, and so may be one that
// denies access.
bool is_dead(const base::UnixAddress& address) {
    const Descriptor probe = make_socket();
    return !address.connect(probe.get()) && errno == ECONNREFUSED;
}

// Removes the socket of a dead server. Returns an error if the path cannot be used.
std::optional<Error> clear_path(const std::string& path, const base::UnixAddress& address) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) {
        return std::nullopt;
    }
    if (!S_ISSOCK(info.st_mode)) {
        return Error{Error::Code::refused, path + " exists and is not a socket"};
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

base::Expected<ClassicSocket> ClassicSocket::acquire(const std::string& path) {
    const base::UnixAddress address(path.c_str());
    if (!address.is_valid()) {
        return base::error(Error::Code::failed, "the path is too long for a socket: " + path);
    }
    if (auto problem = clear_path(path, address)) {
        return tl::unexpected(std::move(*problem));
    }
    const auto failed = [&](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("can't ") + what + " " + path + ": " + std::strerror(errno));
    };
    ClassicSocket result;
    result.descriptor_ = make_socket();
    if (!result.descriptor_ || !address.bind(result.descriptor_.get())) {
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
