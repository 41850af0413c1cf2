// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a file to a process that holds memory: the one rule by which a segment counts for a process, whether it was handed over
// or found.

#include <sys/types.h>

#include <compare>
#include <optional>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "census/process.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::segments {

// Which file it is, whoever holds it open under whatever number.
struct FileId {
    dev_t device = 0;
    ino_t inode = 0;

    auto operator<=>(const FileId&) const = default;
};

std::optional<FileId> file_id(const base::Descriptor& file);

struct Attached {
    FileId file;
    base::Descriptor handle;  // the kernel's handle on the process: readable when it has ended
    census::Process process;
};

// A segment counts for the one process whose innermost pid and start time are in its header. Others hold the same file too:
// forked children, readers.
bool is_owner(const census::Identity& identity, const segment::Reader& reader);

// Attaches the segment that a process handed over. `handle` is of the process that did, and `pid` its number; both are the
// kernel's word. An error where the file is none, is another's, or the process has ended meanwhile.
base::Expected<Attached> attach(const Proc& proc, uint32_t pid, base::Descriptor handle,
                                base::Descriptor file);

}  // namespace ttmem::sources::segments
