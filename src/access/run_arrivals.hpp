// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes of a command that 'ttmem run' has started. Each process hands over its segment when it creates one.
// The segment stays readable after the process has ended, however short its life was.

#include <poll.h>

#include <cassert>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "sources/proc.hpp"
#include "sources/segments/attach.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::access {

class RunArrivals {
public:
    // Listens in a folder that only this user can enter. The destructor removes the folder. Move the object only
    // before the first process arrives.
    static base::Expected<RunArrivals> listen();

    RunArrivals(RunArrivals&& other) noexcept
        : folder_(std::exchange(other.folder_, {})), listener_(std::move(other.listener_)) {
        assert(other.waiting_.empty() && other.attached_.empty());
    }
    RunArrivals& operator=(RunArrivals&&) = delete;
    ~RunArrivals();

    // The value for TTMEM_RUN_DIR.
    const std::string& folder() const { return folder_; }

    // The name of a library for LD_PRELOAD. A space or a colon ends a name there, so a path that contains one is
    // replaced by a symbolic link in folder(). The link points to the library's folder, because a library may load
    // others beside it.
    std::string preload_name_of(const std::string& library) const;

    // Adds the descriptors to poll.
    void add_to(std::vector<pollfd>& polled) const;

    // Accepts new processes without waiting.
    void accept_processes();

    // Scans /proc for descendants of `ancestor` that can't hand over a segment.
    void scan_for_children_of(pid_t ancestor);

    bool is_empty() const { return attached_.empty(); }

    // All processes so far, in their current or last state.
    census::Census census() const;

private:
    RunArrivals(std::string folder, base::Descriptor listener)
        : folder_(std::move(folder)), listener_(std::move(listener)) {}

    bool take_from(const base::Descriptor& connection);
    void add(sources::segments::AttachedSegment attached);

    std::string folder_;
    base::Descriptor listener_;
    std::vector<base::Descriptor> waiting_;  // connected, but the segment has not arrived
    sources::Proc proc_;
    std::vector<sources::segments::AttachedSegment> attached_;
    std::set<sources::segments::FileId> known_;
    uint64_t dropped_ = 0;
};

}  // namespace ttmem::access
