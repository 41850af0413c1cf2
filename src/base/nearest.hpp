// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::base {

// The word that was probably meant: the one that needs the fewest changes. Nothing if all need too many.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& words);

}  // namespace ttmem::base
