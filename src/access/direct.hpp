// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looking at every segment that this user may read, with no help from anyone.

#include "access/access.hpp"

namespace ttmem::access::direct {

base::Expected<Answer<view::View>> status();
base::Expected<Answer<view::AllocationView>> allocations(const census::AllocationQuery& query);
base::Expected<Answer<view::GroupView>> groups(const census::AllocationQuery& query);
base::Expected<Answer<view::ProgramView>> programs(const census::ProgramQuery& query);
base::Expected<Answer<view::MapView>> map(const census::MapQuery& query);
base::Expected<Answer<view::CoreView>> cores(const std::string& device);
base::Expected<Answer<view::FailureView>> failures(const census::FailureQuery& query);

}  // namespace ttmem::access::direct
