// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two sources of a model.

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "census/census.hpp"
#include "exports/model.hpp"

namespace ttmem::exports {

// A recording from its beginning to a moment (recording/moment.hpp); without one to its end. At most `most` freed allocations.
base::Expected<ExportModel> read_recording(const std::string& path, const std::optional<std::string>& at,
                                           uint64_t most);

// The live allocations of this host.
ExportModel read_host(const census::Census& census, const std::string& host);

}  // namespace ttmem::exports
