// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ttmem::cli {

// The path of the library to preload: $TTMEM_OBSERVER, or the one installed with this program. Nothing if there is none.
std::optional<std::string> find_observer();

}  // namespace ttmem::cli
