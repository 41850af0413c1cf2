// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attaches a segment file to the process that owns it. The same rule applies to announced and discovered segments.

#include <sys/types.h>

#include <compare>
#include <optional>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "census/process.hpp"
#include "sources/proc.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::sources::segments {

// What /proc shows for the file of a segment.
std::string link_of_segment();

// Identifies a file independently of the descriptors and processes that hold it open.
struct FileId {
    dev_t device = 0;
    ino_t inode = 0;

    auto operator<=>(const FileId&) const = default;
};

// A segment's file, as the kernel describes it.
struct ExaminedFile {
    FileId id;
    uint32_t owner = 0;  // the uid of the process that made it, which nobody but root can change
};
std::optional<ExaminedFile> examine_file(const base::Descriptor& file);

// Whose segment a file is. The kernel gave the file its owner when it was made, so a descriptor that was passed to a process of
// another user, or kept by a set-user-id program, shows it.
enum class Ownership : uint8_t {
    own,           // the only user of the process made the file
    changed_user,  // root made it: the process gave up its privileges, or has several users
    foreign,       // another user made it: it counts for nobody
};
Ownership ownership_of(const census::Identity& identity, uint32_t file_owner);

struct AttachedSegment {
    ExaminedFile file;
    base::Descriptor handle;  // pidfd: readable when the process has ended; empty: it had ended before
    census::Process process;
};

// A segment counts for the one process whose innermost pid and start time are in its header. Other processes, such as
// forked children and readers, may hold the same file open.
bool is_owner(const census::Identity& identity, const segment::Reader& reader);

// Attaches the segment that a process announced. Returns an error if the file is not a segment, or belongs to another process or
// user. A process that has ended is attached as dead, for what it held: the kernel reported its pid and uid when it connected, its
// start time is what the segment says, and its command is not known.
base::Expected<AttachedSegment> attach(const Proc& proc, Peer peer, base::Descriptor file);

// What a process that was attached has become.
enum class Continuity : uint8_t {
    same,
    changed_user,  // root made the segment, and the process has another user now
    replaced,      // it executes another program, which has no such segment
};
// Where the process had its segment open is found once and kept in `descriptor`.
Continuity continuity_of(const Proc& proc, const census::Identity& identity, const ExaminedFile& file,
                         std::optional<uint32_t>& descriptor);

}  // namespace ttmem::sources::segments
