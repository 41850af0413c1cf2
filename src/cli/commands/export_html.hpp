// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "exports/formats.hpp"

namespace ttmem::cli {

// The page with its data inside, of the living host or of a moment of a recording. Returns the exit code.
int export_html(const exports::ExportTarget& target);
int export_html(const exports::ExportTarget& target, const std::string& recording,
                const std::optional<std::string>& at, uint64_t most_allocations);

}  // namespace ttmem::cli
