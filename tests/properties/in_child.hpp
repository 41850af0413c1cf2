// SPDX-License-Identifier: Apache-2.0
#pragma once

// One case, one process: a child that is forked for each case makes a segment of its own, so every case starts from an
// empty one, and a case that crashes is a failure that shrinks like any other.

#include <functional>
#include <string>

namespace ttmem::properties {

// Runs `body` in a child and returns what it returned, or how the child died.
std::string run_in_child(const std::function<std::string()>& body);

}  // namespace ttmem::properties
