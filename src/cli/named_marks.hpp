// SPDX-License-Identifier: Apache-2.0
#pragma once

// The marks of 'ttmem mark NAME': what each process held at a moment, one file each in the user's state folder. They need no
// daemon, outlive its restart, and no user can push out another's.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "view/questions/inventory.hpp"

namespace ttmem::cli {

constexpr size_t kMostNamedMarks = 256;  // the oldest is removed

// The problem with a name, or no text.
std::string check_mark_name(const std::string& name);

base::Expected<void> keep_mark(const std::string& name, const view::InventoryView& contents);

// The names of all marks, each once, the oldest first.
std::vector<std::string> mark_names();

// The last mark with this name. The error lists those that there are.
base::Expected<view::InventoryView> read_named_mark(const std::string& name);

// All marks with this name, or all if it is empty, the oldest first.
base::Expected<std::vector<view::InventoryView>> read_named_marks(const std::string& name);

}  // namespace ttmem::cli
