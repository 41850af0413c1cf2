// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace ttmem::recording {

using base::Error;

namespace {

constexpr mode_t kOwnerOnly = 0600;

tl::unexpected<Error> failed(const std::string& path, const char* what, int error) {
    return base::error(Error::Code::failed,
                       "can't " + std::string(what) + " " + path + ": " + std::strerror(error));
}

}  // namespace

std::string earlier_part_of(const std::string& path) { return path + ".1"; }

base::Expected<AppendedFile> AppendedFile::create(const std::string& path) {
    base::Descriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND, kOwnerOnly));
    if (!file) {
        return failed(path, "create", errno);
    }
    return AppendedFile(path, std::move(file));
}

base::Expected<void> AppendedFile::append(std::string_view bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            [[maybe_unused]] const int cut = ftruncate(file_.get(), static_cast<off_t>(size_));
            return failed(path_, "write", error);
        }
        done += static_cast<size_t>(written);
    }
    size_ += bytes.size();
    return {};
}

base::Expected<std::unique_ptr<FilePair>> FilePair::create(FileSettings settings) {
    std::vector<std::string> paths = {settings.path};
    if (settings.max_bytes != 0) {
        paths.push_back(earlier_part_of(settings.path));
    }
    for (const std::string& path : paths) {
        struct stat found {};
        if (lstat(path.c_str(), &found) != 0) {
            continue;
        }
        if (!settings.replaces) {
            return base::error(Error::Code::refused, path + " exists (replace it with --force)");
        }
        if (!S_ISREG(found.st_mode)) {
            return base::error(Error::Code::refused, path + " is not a file: it is not replaced");
        }
    }
    if (settings.max_bytes != 0 && settings.max_bytes < kLeastMaxBytes) {
        return base::error(Error::Code::refused, "a recording needs at least 1 MiB");
    }
    return std::unique_ptr<FilePair>(new FilePair(std::move(settings)));
}

base::Expected<void> FilePair::begin_part(std::string_view header) {
    const std::string& path = settings_.path;
    if (file_) {
        if (rename(path.c_str(), earlier_part_of(path).c_str()) != 0) {
            return failed(path, "rename", errno);
        }
    } else if (settings_.replaces && unlink(path.c_str()) != 0 && errno != ENOENT) {
        return failed(path, "replace", errno);
    }
    auto file = AppendedFile::create(path);
    if (!file) {
        return tl::unexpected(std::move(file.error()));
    }
    file_ = std::make_unique<AppendedFile>(std::move(*file));
    return file_->append(header);
}

}  // namespace ttmem::recording
