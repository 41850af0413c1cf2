// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page that ttmemd serves to browsers (docs/WEB.md). It contains no data; it asks the API for them.

#include <optional>

#include "daemon/http/message.hpp"
#include "page/document.hpp"

namespace ttmem::daemon {

// The document, for a browser that navigates to an address which is no route: each view has an address of its own. Nothing: it is no
// such request.
std::optional<http::Response> page_response(const http::Request& request,
                                            const page::SentDocument& document = page::sent_document());

}  // namespace ttmem::daemon
