// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page that ttmemd serves to browsers (docs/WEB.md). It contains no data; it asks the API for them.

#include <optional>
#include <span>

#include "daemon/http/message.hpp"
#include "daemon/page/assets.hpp"

namespace ttmem::daemon {

// The document, or one of its files. Any address that is no route is the document for a browser that navigates to it, because each
// view has an address of its own. Nothing: the address is neither.
std::optional<http::Response> page_response(const http::Request& request,
                                            std::span<const PageAsset> assets = page_assets());

}  // namespace ttmem::daemon
