// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtime_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

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
    if (const char* named = std::getenv("TTMEM_RUNTIME_DIR"); named != nullptr && *named != '\0') {
        return named;
    }
    // What systemd made for the unit, which runs as a user of its own (RuntimeDirectory=). Another service's is not for this.
    if (const char* given = std::getenv("RUNTIME_DIRECTORY");
        given != nullptr && std::filesystem::path(given).filename() == "ttmem") {
        return given;
    }
    if (geteuid() == 0) {
        return "/run/ttmem";
    }
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0') {
        return std::filesystem::path(runtime) / "ttmem";
    }
    return "/tmp/ttmem-" + std::to_string(geteuid());
}

base::Expected<RuntimeDirectory> RuntimeDirectory::take(const std::filesystem::path& wanted) {
    RuntimeDirectory directory;
    directory.path_ = wanted;
    const bool is_for_all = wanted == "/run/ttmem";
    if (mkdir(wanted.c_str(), is_for_all ? 0755 : 0700) != 0 && errno != EEXIST) {
        return base::error(Error::Code::failed, "can't make the runtime directory " + wanted.string() + ": " +
                                                    reason() + " (name another with --runtime-dir)");
    }
    struct stat info {};
    if (lstat(wanted.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return base::error(Error::Code::refused,
                           wanted.string() + " is no directory (name another with --runtime-dir)");
    }
    if (info.st_uid != geteuid()) {
        return base::error(Error::Code::refused,
                           "the runtime directory " + wanted.string() +
                               " belongs to another user (name another with --runtime-dir)");
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return base::error(Error::Code::refused, "the runtime directory " + wanted.string() +
                                                     " can be written by others (chmod go-w " +
                                                     wanted.string() + ")");
    }
    const auto lock_file = wanted / "ttmemd.pid";
    directory.lock_ =
        base::Descriptor(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!directory.lock_) {
        return base::error(Error::Code::failed, "can't open " + lock_file.string() + ": " + reason());
    }
    if (flock(directory.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
        return base::error(Error::Code::refused,
                           "another daemon (process " + read_owner(directory.lock_.get()) + ") runs in " +
                               wanted.string() + " (stop it, or name another directory with --runtime-dir)");
    }
    const std::string pid = std::to_string(getpid()) + "\n";
    if (ftruncate(directory.lock_.get(), 0) != 0 ||
        pwrite(directory.lock_.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        return base::error(Error::Code::failed, "can't write " + lock_file.string() + ": " + reason());
    }
    return directory;
}

}  // namespace ttmem::daemon
