// SPDX-License-Identifier: Apache-2.0
#pragma once

// What several screens have in common.

#include <string>
#include <vector>

#include "view/table.hpp"
#include "view/view.hpp"

namespace ttmem::view {

// The first line: "quietbox: 8 devices, 2 tracked processes, figures exact".
std::string headline(const Origin& origin, const std::string& what, bool is_exact, const Style& style);

// "2 tracked processes, 1 untracked".
std::string processes_text(const std::vector<census::ProcessFigures>& processes);

// Why figures are less than exact; nothing where they are exact. Processes that were skipped are told by their number
// alone: the program has a line about each.
std::string inexact_text(const std::vector<census::Inexactness>& inexact, const Style& style);

// What a host without any tracked process shows.
std::string nobody_text(const Origin& origin, const std::vector<census::Inexactness>& inexact,
                        const Style& style);

// Which columns a narrow terminal has cost; nothing where it has cost none.
std::string left_out_text(const std::vector<std::string>& titles);

}  // namespace ttmem::view
