// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of packaging/completion, as part of the program.

#include <string>

namespace ttmem::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace ttmem::cli
