// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/attach.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "base/pidfd.hpp"

namespace ttmem::sources::segments {

using base::Error;

namespace {

// A descriptor that was handed over can write. Held on after its owner's death it would look, to all who look under /proc, like
// a segment of this process's making.
base::Descriptor read_only(base::Descriptor file) {
    // What has no seals is no memfd: it will be refused, and to open it may do something.
    if (fcntl(file.get(), F_GET_SEALS) < 0) {
        return file;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    base::Descriptor again(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return again ? std::move(again) : std::move(file);
}

// It has ended, and nobody has taken note yet: its number is still its own.
bool is_zombie(const ProcessFolder& folder) {
    const std::string stat = folder.read("stat").value_or("");
    const size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && stat.compare(name_end, 4, ") Z ") == 0;
}

}  // namespace

std::optional<FileId> file_id(const base::Descriptor& file) {
    struct stat info {};
    return fstat(file.get(), &info) == 0 ? std::optional(FileId{info.st_dev, info.st_ino}) : std::nullopt;
}

bool is_owner(const census::Identity& identity, const segment::Reader& reader) {
    return identity.inner_pid == reader.pid() && identity.start_time == reader.start_time();
}

base::Expected<Attached> attach(const Proc& proc, uint32_t pid, base::Descriptor handle,
                                base::Descriptor file) {
    const auto id = file_id(file);
    if (!id) {
        return base::error(Error::Code::refused, "segment can't be examined, skipped");
    }
    auto reader = segment::Reader::open(read_only(std::move(file)));
    if (!reader) {
        return base::error(reader.error().code, "segment " + reader.error().text + ", skipped");
    }
    const auto folder = proc.open(pid);
    auto identity = folder ? proc.identify(pid, *folder) : std::nullopt;
    // Only now: what was read under that number is then of the process of the handle, and of no later one. One that lived so
    // briefly that it has ended already is attached all the same, for what it held at its end.
    if (!identity || (base::has_ended(handle) && !is_zombie(*folder))) {
        return base::error(Error::Code::gone, "process has ended");
    }
    if (!is_owner(*identity, *reader)) {
        return base::error(Error::Code::refused, "segment is not its own (it names process " +
                                                     std::to_string(reader->pid()) + "), skipped");
    }
    return Attached{*id, std::move(handle), {std::move(*identity), census::State::live, std::move(*reader)}};
}

}  // namespace ttmem::sources::segments
