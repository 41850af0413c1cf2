// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of the manual, from the declarations of the questions.

#include <string>

namespace ttmem::view {

// For docs/API.md: the addresses, and for each its parameters and the fields of its answer.
std::string api_manual();

// For docs/CLI.md: the fields of what each command prints with --json.
std::string cli_manual();

}  // namespace ttmem::view
