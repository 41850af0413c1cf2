// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a face gets its view. Today there is one way: to look directly at every segment that this user may read.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "view/view.hpp"

namespace ttmem::access {

template <class View>
struct Answer {
    View view;
    std::vector<std::string> notices;  // for standard error: "process 4711's segment lacks a seal, skipped"
};

base::Expected<Answer<view::View>> status();

// An error where the device or the process asked for is not there, and where the cursor is not one of this list.
base::Expected<Answer<view::AllocationView>> allocations(const census::AllocationQuery& query);

// The same, in groups by query.group.
base::Expected<Answer<view::GroupView>> groups(const census::AllocationQuery& query);

}  // namespace ttmem::access
