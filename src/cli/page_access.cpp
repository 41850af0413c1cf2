// SPDX-License-Identifier: Apache-2.0
#include "cli/page_access.hpp"

#include <nlohmann/json.hpp>

#include "access/daemon_client.hpp"

namespace ttmem::cli {

base::Expected<PageAccess> ask_for_page_access() {
    using base::Error;
    const auto body = access::get("/v1/page");
    if (!body) {
        if (body.error().code == Error::Code::gone) {
            return base::error(
                Error::Code::gone,
                "no daemon runs, and the daemon serves the page: start ttmemd, or use 'ttmem top', "
                "which needs none");
        }
        if (body.error().code == Error::Code::unsupported) {
            return base::error(Error::Code::refused,
                               "the daemon is older than this program and has no page: "
                               "restart it (systemctl restart ttmemd)");
        }
        return tl::unexpected(body.error());
    }
    const auto json = nlohmann::json::parse(*body, nullptr, false);
    PageAccess page;
    try {
        page.token = json.at("token").get<std::string>();
        page.valid_s = json.at("valid_s").get<uint64_t>();
        page.is_built = json.at("built").get<bool>();
        page.address = json.at("address").is_null() ? "" : json.at("address").get<std::string>();
        page.no_address = json.at("no_address").is_null() ? "" : json.at("no_address").get<std::string>();
        page.socket = json.at("socket").get<std::string>();
    } catch (const nlohmann::json::exception& error) {
        return base::error(Error::Code::failed,
                           std::string("the daemon's answer can't be read: ") + error.what());
    }
    return page;
}

}  // namespace ttmem::cli
