// SPDX-License-Identifier: Apache-2.0
#pragma once

// Groups by name as a tree: each scope with the sums of what is below it.

#include <set>
#include <string>
#include <vector>

#include "view/questions/groups.hpp"

namespace ttmem::tui {

struct ScopeRow {
    std::string path;  // "model/decoder.0"
    size_t depth = 0;
    bool has_children = false;
    bool is_closed = false;
    census::Group sums;  // its key is the last part of the path
};

// Depth first; the scopes of a parent in the order of their first, largest member. Children of closed paths are left out.
std::vector<ScopeRow> scope_rows(const std::vector<census::Group>& names,
                                 const std::set<std::string>& closed);

}  // namespace ttmem::tui
