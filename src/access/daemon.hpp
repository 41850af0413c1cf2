// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asking the daemon. Error::Code::gone where none runs; any other error means that one is there and did not answer as it
// should, or that what was asked for is not there.

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "view/chronicle.hpp"
#include "view/view.hpp"

namespace ttmem::access::daemon {

base::Expected<view::View> status();
base::Expected<view::AllocationView> allocations(
    const census::AllocationQuery& query);  // all pages where limit is 0
base::Expected<view::GroupView> groups(const census::AllocationQuery& query);
base::Expected<view::ProgramView> programs(const census::ProgramQuery& query);
base::Expected<view::MapView> map(const census::MapQuery& query);
base::Expected<view::CoreView> cores(const std::string& device);
base::Expected<view::FailureView> failures(const census::FailureQuery& query);
base::Expected<view::HistoryView> history(const std::optional<uint32_t>& device,
                                          const std::optional<census::Kind>& kind, uint64_t since_ns);
base::Expected<view::EventsView> events(uint64_t since, uint64_t limit);
base::Expected<view::SelfView> self();
base::Expected<view::PostMortemListView> post_mortems();
base::Expected<view::PostMortemView> post_mortem(uint32_t pid, uint64_t limit);

// "/v1/allocations?device=0&sort=age".
std::string target_of(const census::AllocationQuery& query);

}  // namespace ttmem::access::daemon
