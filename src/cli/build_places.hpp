// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles a small program with the headers of a tt-metal, runs it, and keeps the places that it prints for the observer.

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ttmem::cli {

struct PlacesSettings {
    std::string headers;                // where tt-metal is installed, or its source tree
    std::vector<std::string> includes;  // more folders of headers
    std::optional<std::string>
        folder;  // for the result; absent: the folder of this user, which the observer searches
};

// Returns the path of the file.
base::Expected<std::string> build_places(const PlacesSettings& settings);

}  // namespace ttmem::cli
