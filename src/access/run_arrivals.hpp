// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes of a command that 'ttmem run' has started. Each process hands over its segment when it creates one.
// The segment stays readable after the process has ended, however short its life was.
//
// Arrivals and ends get places in one order, from which follows which processes were there at the same time. The order is that
// of the kernel: an epoll reports what becomes ready first, first. A process connects before its first event, and its end is
// reported before its parent can start the next process. So processes one after another are seen as such, however late this
// program runs. Where the order is not certain, the processes count as simultaneous.

#include <cassert>
#include <cstdint>
#include <map>
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
        : folder_(std::exchange(other.folder_, {})),
          listener_(std::move(other.listener_)),
          events_(std::move(other.events_)) {
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

    // Readable when there is something for take_events().
    int descriptor() const { return events_.get(); }

    // Accepts new processes and notes the ends of others, without waiting.
    void take_events();

    // Scans /proc for descendants of `ancestor` that can't hand over a segment.
    void scan_for_children_of(pid_t ancestor);

    bool is_empty() const { return attached_.empty(); }

    // The facts that the runtimes of these processes do not give, each once.
    std::vector<std::string> missing_facts() const;

    // All processes so far, in their current or last state.
    census::Census census() const;

private:
    RunArrivals(std::string folder, base::Descriptor listener, base::Descriptor events)
        : folder_(std::move(folder)), listener_(std::move(listener)), events_(std::move(events)) {}

    struct PendingProcess {
        base::Descriptor socket;
        uint64_t arrived = 0;
    };

    bool watch(int file) const;
    void accept_all();
    bool take_from(const PendingProcess& connection);
    void note_end(int handle);
    void add(sources::segments::AttachedSegment attached, uint64_t arrived);

    std::string folder_;
    base::Descriptor listener_;
    base::Descriptor events_;                // an epoll
    uint64_t order_ = 0;                     // the last place that was given
    std::map<int, PendingProcess> waiting_;  // connected, but the segment has not arrived
    sources::Proc proc_;
    std::vector<sources::segments::AttachedSegment> attached_;
    std::set<sources::segments::FileId> known_;
    uint64_t dropped_ = 0;
};

}  // namespace ttmem::access
