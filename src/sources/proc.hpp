// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reading /proc, or a made-up one in a test. Processes come and go meanwhile: what can't be read is simply not there.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "census/process.hpp"

namespace ttmem::sources {

// /proc/PID, held open. Whatever is read through it is about the process that was there when it was opened, also if the
// pid has been given to another since.
class ProcessFolder {
public:
    explicit ProcessFolder(base::Descriptor folder) : folder_(std::move(folder)) {}

    // Paths are relative: "stat", "fd/3".
    std::optional<std::string> read(const std::string& path) const;
    std::optional<std::string> read_link(const std::string& path) const;
    std::vector<uint32_t> numbers_in(
        const std::string& path) const;  // the entries that are numbers, in order

    // Whether a descriptor ("fd/3") is open for reading only.
    bool is_read_only(const std::string& path) const;

    // A handle on what a link leads to, without opening it: no device is touched, no FIFO waits.
    base::Descriptor locate(const std::string& path) const;

private:
    base::Descriptor folder_;
};

class Proc {
public:
    explicit Proc(std::string root = "/proc");

    std::vector<uint32_t> pids() const;
    std::optional<ProcessFolder> open(uint32_t pid) const;

    // The kernel's word about who a process is; nothing where it has ended, or may not be read.
    std::optional<census::Identity> identify(uint32_t pid, const ProcessFolder& folder) const;

private:
    std::string root_;
    uint64_t boot_time_ns_ = 0;
};

}  // namespace ttmem::sources
