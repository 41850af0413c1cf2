// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ttmem::cli {

// Replaces this process by ttmem-sim from the folder of this program. Returns the exit code if that fails.
int run_sim_program(const std::vector<std::string>& arguments);

}  // namespace ttmem::cli
