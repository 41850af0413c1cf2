// SPDX-License-Identifier: Apache-2.0
#include "exports/output.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ttmem::exports {

using base::Error;

namespace {

constexpr size_t kBufferBytes = 1 << 20;

tl::unexpected<Error> failed(const std::string& what, const std::string& path, int number) {
    return base::error(Error::Code::failed, "can't " + what + " " + path + ": " + strerror(number));
}

}  // namespace

tl::unexpected<Error> exists_already(const std::string& path) {
    return base::error(Error::Code::refused, path + " exists (replace it with --force)");
}

base::Expected<Output> Output::create(const std::string& path, bool force) {
    if (path == "-") {
        return Output("standard output", "", base::Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
                      force);
    }
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) {
        if (!force) {
            return exists_already(path);
        }
        if (!S_ISREG(status.st_mode)) {
            return base::error(Error::Code::refused, path + " is not a file: choose another name");
        }
    }
    std::string part = path + ".XXXXXX";
    base::Descriptor file(mkostemp(part.data(), O_CLOEXEC));  // 0600: names are for this user only
    if (!file) {
        return failed("write", path, errno);
    }
    return Output(path, std::move(part), std::move(file), force);
}

Output::~Output() {
    if (file_ && !part_.empty()) {
        unlink(part_.c_str());
    }
}

void Output::flush() {
    for (std::string_view rest = waiting_; !rest.empty() && problem_ == 0;) {
        const ssize_t written = write(file_.get(), rest.data(), rest.size());
        if (written >= 0) {
            rest.remove_prefix(static_cast<size_t>(written));
        } else if (errno != EINTR) {
            problem_ = errno;
        }
    }
    waiting_.clear();
}

void Output::append(std::string_view bytes) {
    waiting_ += bytes;
    if (waiting_.size() >= kBufferBytes) {
        flush();
    }
}

base::Expected<void> Output::finish() {
    flush();
    if (problem_ != 0) {
        return failed("write", path_, problem_);
    }
    if (part_.empty()) {
        return {};
    }
    const unsigned flags = force_ ? 0u : unsigned{RENAME_NOREPLACE};
    if (renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0) {
        return errno == EEXIST ? exists_already(path_) : failed("write", path_, errno);
    }
    part_.clear();
    return {};
}

}  // namespace ttmem::exports
