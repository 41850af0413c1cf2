// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtime_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/environment.hpp"
#include "base/runtime_directory.hpp"

namespace ttmem::daemon {

using base::Error;

namespace {

std::string reason() { return std::strerror(errno); }

std::string read_owner(int file) {
    std::array<char, 32> text{};
    const ssize_t length = pread(file, text.data(), text.size(), 0);
    std::string owner(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
    owner.erase(owner.find_last_not_of('\n') + 1);
    return owner;
}

}  // namespace

std::filesystem::path RuntimeDirectory::standard() {
    const base::RuntimeDirectories directories = base::runtime_directories();
    if (directories.named != nullptr) {
        return directories.named;
    }
    // The directory that systemd made for the unit (RuntimeDirectory=), whose user is not root. That of another service is ignored.
    if (const char* given = base::environment("RUNTIME_DIRECTORY");
        given != nullptr && std::filesystem::path(given).filename() == "ttmem") {
        return given;
    }
    return geteuid() == 0 ? base::kHostRuntimeDirectory : directories.of_user;
}

base::Expected<RuntimeDirectory> RuntimeDirectory::acquire(const std::filesystem::path& path) {
    RuntimeDirectory directory;
    directory.path_ = path;
    const bool is_for_all = path == base::kHostRuntimeDirectory;
    if (mkdir(path.c_str(), is_for_all ? 0755 : 0700) != 0 && errno != EEXIST) {
        return base::error(Error::Code::failed, "can't create the runtime directory " + path.string() + ": " +
                                                    reason() + " (choose another with --runtime-dir)");
    }
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return base::error(Error::Code::refused,
                           path.string() + " is not a directory (choose another with --runtime-dir)");
    }
    if (info.st_uid != geteuid()) {
        return base::error(Error::Code::refused,
                           "the runtime directory " + path.string() +
                               " belongs to another user (choose another with --runtime-dir)");
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return base::error(Error::Code::refused, "the runtime directory " + path.string() +
                                                     " can be written by others (chmod go-w " +
                                                     path.string() + ")");
    }
    const auto lock_file = path / "ttmemd.pid";
    directory.lock_ =
        base::Descriptor(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!directory.lock_) {
        return base::error(Error::Code::failed, "can't open " + lock_file.string() + ": " + reason());
    }
    if (flock(directory.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
        return base::error(Error::Code::refused,
                           "another daemon (process " + read_owner(directory.lock_.get()) + ") runs in " +
                               path.string() + " (stop it, or choose another directory with --runtime-dir)");
    }
    const std::string pid = std::to_string(getpid()) + "\n";
    if (ftruncate(directory.lock_.get(), 0) != 0 ||
        pwrite(directory.lock_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        return base::error(Error::Code::failed, "can't write " + lock_file.string() + ": " + reason());
    }
    return directory;
}

}  // namespace ttmem::daemon
