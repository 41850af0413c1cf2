// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/message.hpp"

#include <nlohmann/json.hpp>

namespace ttmem::daemon::http {

Response Response::error(view::ApiError code, const std::string& text) {
    Response response;
    response.status = view::status_of(code);
    // Parts of the text may come from the caller and need not be UTF-8.
    response.body = nlohmann::ordered_json{{"error", text}, {"code", name_of(code)}}.dump(
                        -1, ' ', false, nlohmann::json::error_handler_t::replace) +
                    "\n";
    return response;
}

}  // namespace ttmem::daemon::http
