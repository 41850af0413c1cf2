// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs each case in a forked child with its own segment. Every case starts from an empty segment, and a crash is a
// failure that shrinks like any other.

#include <functional>
#include <string>

namespace ttmem::properties {

// Runs `body` in a child. Returns its result, or how the child died.
std::string run_in_child(const std::function<std::string()>& body);

}  // namespace ttmem::properties
