// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/attach.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <string>

#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"

namespace ttmem::sources::segments {

using base::Error;

namespace {

// Reopens a received descriptor, which is writable, for reading only. Discovery takes a writable descriptor for that of
// an owner, and this process keeps the file open after its owner has died.
base::Descriptor read_only(base::Descriptor file) {
    // A file without seals is not a memfd. It will be refused, and opening it could have side effects.
    if (fcntl(file.get(), F_GET_SEALS) < 0) {
        return file;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    base::Descriptor again(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return again ? std::move(again) : std::move(file);
}

// A process that has ended and was not reaped yet. Its pid can't be reused.
bool is_zombie(const ProcessFolder& folder) {
    const std::string stat = folder.read("stat").value_or("");
    return base::stat_state(stat.data(), stat.size()) == 'Z';
}

}  // namespace

std::string link_of_segment() { return "/memfd:" + std::string(segment::kMemfdName) + " (deleted)"; }

std::optional<ExaminedFile> examine_file(const base::Descriptor& file) {
    struct stat info {};
    return fstat(file.get(), &info) == 0
               ? std::optional(ExaminedFile{{info.st_dev, info.st_ino}, info.st_uid})
               : std::nullopt;
}

Ownership ownership_of(const census::Identity& identity, uint32_t file_owner) {
    if (identity.has_one_uid && identity.uid == file_owner) {
        return Ownership::own;
    }
    return file_owner == 0 ? Ownership::changed_user : Ownership::foreign;
}

bool is_owner(const census::Identity& identity, const segment::Reader& reader) {
    return identity.inner_pid == reader.pid() && identity.start_time == reader.start_time();
}

namespace {

tl::unexpected<Error> belongs_to_another_user(uint32_t owner) {
    return base::error(Error::Code::refused,
                       "segment was made by user " + std::to_string(owner) + ", not by its own, skipped");
}

base::Expected<AttachedSegment> attach_ended(Peer peer, const ExaminedFile& file, segment::Reader reader) {
    if (file.owner != peer.uid) {
        return belongs_to_another_user(file.owner);
    }
    census::Identity identity;
    identity.pid = peer.pid;
    identity.inner_pid = reader.pid();
    identity.start_time = reader.start_time();
    identity.uid = peer.uid;
    identity.user = user_name(peer.uid);
    identity.comm = "(ended)";
    return AttachedSegment{
        file, std::move(peer.handle), {std::move(identity), census::ProcessState::dead, std::move(reader)}};
}

}  // namespace

base::Expected<AttachedSegment> attach(const Proc& proc, Peer peer, base::Descriptor received) {
    const auto file = examine_file(received);
    if (!file) {
        return base::error(Error::Code::refused, "segment can't be examined, skipped");
    }
    auto reader = segment::Reader::open(read_only(std::move(received)));
    if (!reader) {
        return base::error(reader.error().code, "segment " + reader.error().text + ", skipped");
    }
    const auto folder = peer.handle ? proc.open(peer.pid) : std::nullopt;
    auto identity = folder ? proc.identify(peer.pid, *folder) : std::nullopt;
    // Check the handle after reading the identity, which then belongs to the process of the handle and not to a later
    // one with the same pid.
    if (!identity || (base::has_ended(peer.handle) && !is_zombie(*folder))) {
        return attach_ended(std::move(peer), *file, std::move(*reader));
    }
    if (!is_owner(*identity, *reader)) {
        return base::error(Error::Code::refused, "segment is not its own (it names process " +
                                                     std::to_string(reader->pid()) + "), skipped");
    }
    const Ownership ownership = ownership_of(*identity, file->owner);
    if (ownership == Ownership::foreign) {
        return belongs_to_another_user(file->owner);
    }
    census::Process process(std::move(*identity), census::ProcessState::live, std::move(*reader));
    process.has_changed_user = ownership == Ownership::changed_user;
    return AttachedSegment{*file, std::move(peer.handle), std::move(process)};
}

namespace {

constexpr size_t kMostSearched = 1024;  // that are searched; beyond it the map of the memory answers

bool has_open(const ProcessFolder& folder, FileId file, std::optional<uint32_t>& descriptor) {
    const auto refers = [&](uint32_t number) {
        return folder.refers_to("fd/" + std::to_string(number), file.device, file.inode);
    };
    if (descriptor && refers(*descriptor)) {
        return true;
    }
    descriptor.reset();
    std::vector<uint32_t> numbers = folder.numbers_in("fd");
    numbers.resize(std::min(numbers.size(), kMostSearched));
    if (const auto found = std::find_if(numbers.begin(), numbers.end(), refers); found != numbers.end()) {
        descriptor = *found;
    }
    return descriptor.has_value();
}

// Another program closes the descriptor. So may the application itself, and then it still has the segment in its memory. A
// process that is about to end has no memory any more: its handle will report its end.
bool has_segment(const ProcessFolder& folder, FileId file, std::optional<uint32_t>& descriptor) {
    if (has_open(folder, file, descriptor)) {
        return true;
    }
    const std::string inode = " " + std::to_string(file.inode) + " ";
    bool has_memory = false;
    bool is_mapped = false;
    folder.for_each_line("maps", [&](std::string_view line) {
        has_memory = true;
        is_mapped = line.find(inode) != std::string_view::npos && line.ends_with(link_of_segment());
        return !is_mapped;
    });
    return is_mapped || !has_memory;
}

}  // namespace

Continuity continuity_of(const Proc& proc, const census::Identity& identity, const ExaminedFile& file,
                         std::optional<uint32_t>& descriptor) {
    const auto folder = proc.open(identity.pid);
    const auto now = folder ? proc.credentials(*folder) : std::nullopt;
    if (!now || now->start_time != identity.start_time) {
        return Continuity::same;  // it has ended, which its handle reports
    }
    census::Identity changed = identity;
    changed.uid = now->uid;
    changed.has_one_uid = now->has_one_uid;
    const Ownership ownership = ownership_of(changed, file.owner);
    // A set-user-id program may have kept the descriptor.
    if (ownership == Ownership::foreign || !has_segment(*folder, file.id, descriptor)) {
        return Continuity::replaced;
    }
    return ownership == Ownership::own ? Continuity::same : Continuity::changed_user;
}

}  // namespace ttmem::sources::segments
