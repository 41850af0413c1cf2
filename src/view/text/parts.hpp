// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts that several screens share.

#include <string>
#include <vector>

#include "view/model/view.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

// "quietbox: 8 devices, 2 tracked processes", with the host as title.
Line host_line(const Origin& origin, const std::string& what);

// The first line: "quietbox: 8 devices, 2 tracked processes, figures exact".
Line headline(const Origin& origin, const std::string& what, bool is_exact);

// "2 tracked processes, 1 untracked".
std::string processes_text(const std::vector<census::ProcessFigures>& processes);

// Why figures are inexact; empty if they are exact. Skipped processes appear as a count only: the program prints a notice for each.
Text inexact_text(const std::vector<census::Inexactness>& inexact);

// The screen of a host without tracked processes.
Text no_process_text(const Origin& origin, const std::vector<census::Inexactness>& inexact);

// Names the columns that did not fit; empty if all did.
Text left_out_text(const std::vector<std::string>& titles);

}  // namespace ttmem::view
