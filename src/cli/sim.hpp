// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ttmem::cli {

// Becomes the program ttmem-sim, which stands beside this one; returns only where it can't, with the exit code.
int run_sim(const std::vector<std::string>& arguments);

}  // namespace ttmem::cli
