// SPDX-License-Identifier: Apache-2.0
#include "access/daemon_client.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "access/api_sockets.hpp"
#include "access/http_client.hpp"
#include "view/model/api_error.hpp"

namespace ttmem::access {

using base::Error;

namespace {

constexpr auto kPatience = std::chrono::seconds(5);

Error error_in(const HttpAnswer& answer) {
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    const auto text_of = [&](const char* name) {
        const bool has_text = json.is_object() && json.contains(name) && json[name].is_string();
        return has_text ? json[name].get<std::string>() : "";
    };
    const auto code = base::by_name<view::ApiError>(text_of("code"));
    std::string text = text_of("error");
    return {code == view::ApiError::unknown_address ? Error::Code::unsupported
            : code == view::ApiError::not_found     ? Error::Code::not_found
                                                    : Error::Code::refused,
            text.empty() ? "the daemon answered " + std::to_string(answer.status) : std::move(text)};
}

// Asks the first daemon that runs.
template <class Ask>
base::Expected<HttpAnswer> ask_first(Ask ask) {
    for (const auto& socket : api_sockets()) {
        auto answer = ask(socket);
        if (!answer && answer.error().code == Error::Code::gone) {
            continue;
        }
        if (answer && answer->status != 200) {
            return tl::unexpected(error_in(*answer));
        }
        return answer;
    }
    return base::error(Error::Code::gone, "no daemon runs");
}

}  // namespace

base::Expected<std::string> get(const std::string& target) {
    auto answer = ask_first([&](const auto& socket) { return http_get(socket, target, kPatience); });
    if (!answer) {
        return tl::unexpected(std::move(answer.error()));
    }
    return std::move(answer->body);
}

base::Expected<void> download(const std::string& target, const TakeBytes& take, int until) {
    const auto answer =
        ask_first([&](const auto& socket) { return http_download(socket, target, take, until); });
    return answer ? base::Expected<void>() : tl::unexpected(answer.error());
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
