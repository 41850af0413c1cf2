// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/descriptor.hpp"

namespace ttmem::base {

namespace {

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            errno = written == 0 ? EIO : errno;
            return false;
        }
        text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

// A new file, never one that is there. A crash may have left one of this name.
Descriptor create(const std::string& path, mode_t mode) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Descriptor file(open(path.c_str(), kFlags, mode));
    if (!file && errno == EEXIST && unlink(path.c_str()) == 0) {
        file = Descriptor(open(path.c_str(), kFlags, mode));
    }
    return file;
}

}  // namespace

bool write_file_atomically(const std::string& path, std::string_view text, std::optional<mode_t> mode) {
    std::error_code ignored;  // open() reports it
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    // Threads that write one file at the same time have a file each.
    const std::string temporary = path + "." + std::to_string(gettid()) + kUnfinishedFile;
    const Descriptor file = create(temporary, mode.value_or(0666));
    if (!file) {
        return false;
    }
    const bool is_written = (!mode || fchmod(file.get(), *mode) == 0) && write_all(file.get(), text) &&
                            fsync(file.get()) == 0 && rename(temporary.c_str(), path.c_str()) == 0;
    if (!is_written) {
        const int error = errno;
        unlink(temporary.c_str());
        errno = error;
    }
    return is_written;
}

}  // namespace ttmem::base
