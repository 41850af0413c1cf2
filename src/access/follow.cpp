// SPDX-License-Identifier: Apache-2.0
#include "access/follow.hpp"

#include <optional>
#include <utility>

#include "access/api_sockets.hpp"
#include "access/http_client.hpp"
#include "view/change.hpp"
#include "view/json.hpp"

namespace ttmem::access {

using base::Error;

namespace {

constexpr auto kSilence = std::chrono::seconds(25);  // the daemon's heart beats every 10 s

// Brings a view up to date with a message of the stream.
base::Expected<void> take_message(const Event& event, std::optional<view::View>& view) {
    if (event.event == "view") {
        auto whole = view::view_from_json(event.data);
        if (!whole) {
            return tl::unexpected(whole.error());
        }
        view = std::move(*whole);
        return {};
    }
    auto change = view::change_from_json(event.data);
    if (!change || !view) {
        return change ? base::error(Error::Code::refused, "the daemon sent a change before a view")
                      : tl::unexpected(change.error());
    }
    apply(std::move(*change), *view);
    view->origin.time_ns = view::read_here().time_ns;
    return {};
}

}  // namespace

base::Expected<void> follow(std::chrono::milliseconds interval,
                            const std::function<bool(const view::View&)>& take, int until) {
    const std::string target = "/v1/stream?interval_ms=" + std::to_string(interval.count());
    std::optional<view::View> view;
    base::Expected<void> result;
    const auto take_event = [&](const Event& event) {
        if (event.event != "view" && event.event != "change") {
            return true;  // of a later daemon
        }
        result = take_message(event, view);
        return result && take(*view);
    };
    for (const auto& socket : api_sockets()) {
        result = {};
        auto ended = http_stream(socket, target, "", take_event, kSilence, until);
        if (!ended && ended.error().code == Error::Code::gone && !view) {
            continue;  // nobody is there: perhaps at the next place
        }
        return result ? ended : result;
    }
    return base::error(Error::Code::gone, "no daemon runs");
}

}  // namespace ttmem::access
