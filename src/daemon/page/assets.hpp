// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace ttmem::daemon {

// A file of the page (web/), embedded by the build.
struct PageAsset {
    std::string_view path;  // "/assets/page-1a2b3c4d.js"; of the document itself "/"
    std::string_view content_type;
    std::string_view bytes;
    bool is_gzip = false;
};

// Empty if the build left the page out. The build writes the definition: web/build.mjs.
std::span<const PageAsset> page_assets();

}  // namespace ttmem::daemon
