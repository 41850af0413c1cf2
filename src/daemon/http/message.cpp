// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/message.hpp"

#include <nlohmann/json.hpp>

namespace ttmem::daemon::http {

Response Response::error(unsigned status, const std::string& text) {
    Response response;
    response.status = status;
    // Parts of the text may come from the caller and need not be UTF-8.
    response.body =
        nlohmann::json{{"error", text}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    return response;
}

}  // namespace ttmem::daemon::http
