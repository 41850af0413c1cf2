// SPDX-License-Identifier: Apache-2.0
#include "access/daemon_client.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "access/api_sockets.hpp"
#include "access/http_client.hpp"

namespace ttmem::access {

using base::Error;

namespace {

constexpr auto kPatience = std::chrono::seconds(5);

std::string error_in(const HttpAnswer& answer) {
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    const bool has_text = json.is_object() && json.contains("error") && json["error"].is_string();
    return has_text ? json["error"].get<std::string>()
                    : "the daemon answered " + std::to_string(answer.status);
}

}  // namespace

base::Expected<std::string> get(const std::string& target) {
    for (const auto& socket : api_sockets()) {
        auto answer = http_get(socket, target, kPatience);
        if (!answer && answer.error().code == Error::Code::gone) {
            continue;
        }
        if (!answer) {
            return tl::unexpected(std::move(answer.error()));
        }
        if (answer->status != 200) {
            return base::error(Error::Code::refused, error_in(*answer));
        }
        return std::move(answer->body);
    }
    return base::error(Error::Code::gone, "no daemon runs");
}

std::vector<std::string> notices_of(const std::vector<census::Inexactness>& inexact) {
    std::vector<std::string> notices;
    for (const census::Inexactness& one : inexact) {
        if (one.is_skipped()) {
            notices.push_back("process " + std::to_string(one.pid) + "'s " + text_of(one));
        }
    }
    return notices;
}

}  // namespace ttmem::access
