// SPDX-License-Identifier: Apache-2.0
#pragma once

// The states of the view, numbered from 1, and what changed from one to another.
//
// Each device and process carries the number of the state in which it last changed. A reader that was cut off and comes back
// with the number of the last state it saw gets exactly what changed since. What is gone is remembered for a while; a reader
// that was away for longer gets the whole view again.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "view/model/change.hpp"
#include "view/questions/status.hpp"

namespace ttmem::daemon {

class ViewChanges {
public:
    // Takes the next view; false where nothing but its time differs.
    bool update(view::View view);

    uint64_t number() const { return number_; }
    const view::View& whole() const { return view_; }

    bool knows(uint64_t state) const { return state >= forgotten_ && state <= number_; }
    view::ViewChange since(uint64_t state) const;

private:
    using Versions = std::map<uint32_t, uint64_t>;  // id or pid, and the state of its last change
    struct Removal {
        uint64_t number = 0;
        bool is_process = false;
        uint32_t id = 0;
    };
    static constexpr size_t kMostRemovals = 4096;

    template <class Entry>
    void compare(const std::vector<Entry>& before, const std::vector<Entry>& now, uint32_t Entry::*key,
                 Versions& versions, bool is_process);

    uint64_t number_ = 0;
    uint64_t forgotten_ = 0;  // states before this one are no longer known
    view::View view_;
    uint64_t inexact_changed_ = 0;
    uint64_t meshes_changed_ = 0;
    Versions devices_;
    Versions processes_;
    std::deque<Removal> removals_;
};

}  // namespace ttmem::daemon
