// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/attach.hpp"

#include <sys/stat.h>

#include "base/pidfd.hpp"

namespace ttmem::sources::segments {

using base::Error;

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
    auto reader = segment::Reader::open(std::move(file));
    if (!reader) {
        return base::error(reader.error().code, "segment " + reader.error().text + ", skipped");
    }
    const auto folder = proc.open(pid);
    auto identity = folder ? proc.identify(pid, *folder) : std::nullopt;
    // Only now: what was read under that number is then of the process of the handle, and of no later one.
    if (!identity || base::has_ended(handle)) {
        return base::error(Error::Code::gone, "process has ended");
    }
    if (!is_owner(*identity, *reader)) {
        return base::error(Error::Code::refused, "segment is not its own (it names process " +
                                                     std::to_string(reader->pid()) + "), skipped");
    }
    return Attached{*id, std::move(handle), {std::move(*identity), census::State::live, std::move(*reader)}};
}

}  // namespace ttmem::sources::segments
