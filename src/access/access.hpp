// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a face gets its view: from the daemon where one runs, else by looking directly at every segment that this user may
// read. Both give the same numbers; the daemon shows a user also the totals of others, and knows what happened.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "view/chronicle.hpp"
#include "view/view.hpp"

namespace ttmem::access {

template <class View>
struct Answer {
    View view;
    std::vector<std::string> notices;  // for standard error: "process 4711's segment lacks a seal, skipped"
};

enum class Way : uint8_t { daemon_if_there, direct };

base::Expected<Answer<view::View>> status(Way way);

// An error where the device or the process asked for is not there, and where the cursor is not one of this list.
base::Expected<Answer<view::AllocationView>> allocations(const census::AllocationQuery& query, Way way);

// The same, in groups by query.group.
base::Expected<Answer<view::GroupView>> groups(const census::AllocationQuery& query, Way way);

base::Expected<Answer<view::ProgramView>> programs(const census::ProgramQuery& query, Way way);
base::Expected<Answer<view::MapView>> map(const census::MapQuery& query, Way way);
base::Expected<Answer<view::CoreView>> cores(const std::string& device, Way way);

// What failed, and who holds the memory that ran out.
base::Expected<Answer<view::WhyView>> why(const census::FailureQuery& query, Way way);

// Only a daemon was there: an error where none runs.
base::Expected<Answer<view::HistoryView>> history(const std::optional<uint32_t>& device,
                                                  const std::optional<census::Kind>& kind, uint64_t since_ns);
base::Expected<Answer<view::EventsView>> events(uint64_t since, uint64_t limit);
base::Expected<Answer<view::SelfView>> self();
base::Expected<Answer<view::PostMortemListView>> post_mortems();
base::Expected<Answer<view::PostMortemView>> post_mortem(uint32_t pid, uint64_t limit);

}  // namespace ttmem::access
