// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes of a command that 'ttmem run' has started, as they come: each hands its segment over when it makes one. The
// segment stays readable after its process has ended, however soon that is.

#include <poll.h>

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
    // In a folder that only this user can enter, and that goes with this. It is moved only before anybody comes.
    static base::Expected<RunArrivals> listen();

    RunArrivals(RunArrivals&& other) noexcept
        : folder_(std::exchange(other.folder_, {})), listener_(std::move(other.listener_)) {}
    RunArrivals& operator=(RunArrivals&&) = delete;
    ~RunArrivals();

    // For TTMEM_RUN_DIR.
    const std::string& folder() const { return folder_; }

    // What is to be polled for.
    void add_to(std::vector<pollfd>& polled) const;

    // Takes up whoever has come; never waits.
    void take_up();

    // Looks under /proc, for those below `ancestor` that can't hand anything over.
    void look_for_children_of(pid_t ancestor);

    bool is_empty() const { return attached_.empty(); }

    // All that have come, as they are now or were at their end.
    census::Census census() const;

private:
    RunArrivals(std::string folder, base::Descriptor listener)
        : folder_(std::move(folder)), listener_(std::move(listener)) {}

    bool take_from(const base::Descriptor& connection);
    void add(sources::segments::Attached attached);

    std::string folder_;
    base::Descriptor listener_;
    std::vector<base::Descriptor> waiting_;  // connected, and not yet heard
    sources::Proc proc_;
    std::vector<sources::segments::Attached> attached_;
    std::set<sources::segments::FileId> known_;
    uint64_t dropped_ = 0;
};

}  // namespace ttmem::access
