// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds every segment that this user may read, without a daemon: a tracked process holds its segment open as a memfd
// with a known name, which is visible in /proc.

#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "census/census.hpp"
#include "sources/proc.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::sources::segments {

struct FoundSegments {
    std::vector<AttachedSegment> attached;  // by pid
    std::vector<census::Omission> omissions;
    std::vector<uint32_t>
        unread;  // ascending pids of processes with memory of their own that this user may not read
    bool is_complete = true;  // every process was scanned, in this scan or since the last complete one
};

// Scans /proc. A user may have very many processes, descriptors and maps, so each user has a share of the time per scan; the
// next scan continues with the processes that are left. The share is processor time, so that a busy machine does not make a
// scan incomplete. Reads that wait, as for the memory map of a process that changes it, are bounded by the clock.
class Discovery {
public:
    static constexpr std::chrono::milliseconds kTimePerUser{100};
    static constexpr int kWaitingFactor = 5;  // a user's share by the clock, in shares of processor time

    explicit Discovery(const Proc& proc, std::chrono::milliseconds time_per_user = kTimePerUser)
        : proc_(proc), time_per_user_(time_per_user) {}

    // Finds all segments except the known ones. Silently skips forked children that hold their parent's segment, unfinished
    // segments, and processes that end during the scan.
    FoundSegments scan(const std::set<FileId>& known = {});

private:
    const Proc& proc_;
    const std::chrono::milliseconds time_per_user_;
    std::map<uint32_t, uint32_t> next_pid_;  // by uid: where a scan that took too long continues
};

// For callers that scan once.
FoundSegments discover(const Proc& proc, const std::set<FileId>& known = {});
census::Census census_of(FoundSegments found);

}  // namespace ttmem::sources::segments
