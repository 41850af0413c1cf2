// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people read: pure functions from a view to text, so that a test can hold each screen.

#include <string>

#include "view/table.hpp"
#include "view/view.hpp"

namespace ttmem::view {

// The devices: what is in use of each, and how near it is to its limits.
std::string status_text(const View& view, const Style& style);

// The processes: what each holds on which device.
std::string ps_text(const View& view, const Style& style);

// A page of live allocations, the largest first.
std::string allocations_text(const AllocationView& view, const Style& style);

}  // namespace ttmem::view
