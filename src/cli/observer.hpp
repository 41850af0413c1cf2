// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ttmem::cli {

// The library to preload, which is installed with this program; nothing where it is not there. $TTMEM_OBSERVER names another.
std::optional<std::string> find_observer();

}  // namespace ttmem::cli
