// SPDX-License-Identifier: Apache-2.0
#pragma once

// The view as JSON: sizes in bytes, absent values null, ASIC ids as "0x..." strings.

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "view/view.hpp"

namespace ttmem::view {

std::string to_json(const View& view);
std::string to_json(const AllocationView& view);

// Fields that are not there keep their standard value, and fields that this version does not know are passed over.
base::Expected<View> view_from_json(std::string_view text);
base::Expected<AllocationView> allocations_from_json(std::string_view text);

}  // namespace ttmem::view
