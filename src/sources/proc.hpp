// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads /proc, or a simulated one in tests. Processes start and end during a read, so unreadable entries count as
// missing.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "census/process.hpp"

namespace ttmem::sources {

// /proc/PID, held open. All reads refer to the process that existed when the folder was opened, even if its pid has
// been reused since.
class ProcessFolder {
public:
    explicit ProcessFolder(base::Descriptor folder) : folder_(std::move(folder)) {}

    // Paths are relative: "stat", "fd/3".
    std::optional<std::string> read(const std::string& path) const;
    std::optional<std::string> read_link(const std::string& path) const;
    // Whether this user may not read the folder.
    bool is_denied(const std::string& path) const;
    // The numeric entries of a folder, sorted.
    std::vector<uint32_t> numbers_in(const std::string& path) const;

    // Whether a descriptor ("fd/3") is open only for reading.
    bool is_read_only(const std::string& path) const;

    // Whether the target of a link is that file.
    bool refers_to(const std::string& path, dev_t device, ino_t inode) const;

    // The effective user of the process, at little cost: the kernel reports it as the owner of the folder, though not of
    // the files in it.
    std::optional<uint32_t> owner() const;

    // Passes each line of a file to `take` until it returns false. Returns false if the file can't be read to its end.
    bool for_each_line(const std::string& path, const std::function<bool(std::string_view)>& take) const;

    // A handle on the target of a link. The target is not opened, so no device is touched and no FIFO blocks.
    base::Descriptor locate(const std::string& path) const;

private:
    base::Descriptor folder_;
};

// The uid if it has no name.
std::string user_name(uint32_t uid);

class Proc {
public:
    explicit Proc(std::string root = "/proc");

    std::vector<uint32_t> pids() const;
    std::optional<ProcessFolder> open(uint32_t pid) const;

    // What may change while a process runs, and what may not.
    struct Credentials {
        uint64_t start_time = 0;
        uint32_t uid = 0;  // effective
        bool has_one_uid = true;
    };
    std::optional<Credentials> credentials(const ProcessFolder& folder) const;

    // Identifies a process by what the kernel reports. Returns nothing if the process has ended or may not be read.
    std::optional<census::Identity> identify(uint32_t pid, const ProcessFolder& folder) const;

private:
    std::string root_;
    uint64_t boot_time_ns_ = 0;
};

}  // namespace ttmem::sources
