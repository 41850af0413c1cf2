// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts that several screens share.

#include <optional>
#include <string>
#include <vector>

#include "view/model/hidden.hpp"
#include "view/model/view.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

// "quietbox: 8 devices, 2 tracked processes", with the host as title.
Line host_line(const Origin& origin, const std::string& what);

// The first line: "quietbox: 8 devices, 2 tracked processes, figures exact".
Line headline(const Origin& origin, const std::string& what, bool is_exact);

// What figures of L1 leave out.
constexpr const char* kUntrackedL1 =
    "Not tracked: L1 that no allocator gives out, such as kernel configurations.";

// "2 tracked processes, 1 untracked".
std::string processes_text(const std::vector<census::ProcessFigures>& processes);

// Who may see what is hidden.
constexpr const char* kWhoSeesHidden =
    "Their users, root (sudo ttmem ...) and members of the group ttmem see them.";

// "2 processes of other users, with 5.4 GiB of dram, 1.2 MiB of l1"; empty if none is hidden.
std::string hidden_line(const Hidden& hidden, bool exact_bytes = false);

// The note of a list that is empty, with what it hides.
Text empty_list_text(const std::string& note, const std::string& hidden);

// What a list leaves out because it belongs to other users, and who may see it; empty if nothing is hidden.
Text hidden_text(const std::string& hidden);
// The same, below a blank line.
Text hidden_below(const std::string& hidden);

// Why figures are inexact; empty if they are exact. Skipped processes appear as a count only: the program prints a notice for each.
// Hidden processes are those of hidden_line().
Text inexact_text(const std::vector<census::Inexactness>& inexact);

// The screen of a host without tracked processes that the user may see.
Text no_process_text(const Origin& origin, const std::vector<census::Inexactness>& inexact,
                     const Hidden& hidden = {}, bool exact_bytes = false);

// What a list ends with: what it hides, and why it is inexact.
Text end_of_list(const auto& view, bool exact_bytes) {
    return hidden_below(hidden_line(view.hidden, exact_bytes)).add(inexact_text(view.inexact));
}

// How many processes ended before they could be read; empty if none did.
Text missed_text(std::optional<uint64_t> processes);

// Devices whose memory is used more than once; empty if there is none.
Text shared_text(const View& view);

// A sentence in lines of at most `width` columns.
Text wrapped(const std::string& sentence, size_t width);

}  // namespace ttmem::view
