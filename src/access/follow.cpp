// SPDX-License-Identifier: Apache-2.0
#include "access/follow.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "access/api_sockets.hpp"
#include "access/http_client.hpp"
#include "view/json/json.hpp"
#include "view/model/change.hpp"

namespace ttmem::access {

using base::Error;

namespace {

constexpr auto kSilence = std::chrono::seconds(25);  // the daemon sends a heartbeat every 10 s

// Streams from the first daemon that runs. `take` returns an error if a message can't be read, and false to stop.
base::Expected<void> stream(const std::string& target,
                            const std::function<base::Expected<bool>(const ServerSentEvent&)>& take,
                            int until) {
    for (const auto& socket : api_sockets()) {
        bool has_begun = false;
        std::optional<Error> problem;
        const auto take_event = [&](const ServerSentEvent& event) {
            has_begun = true;
            const auto goes_on = take(event);
            if (!goes_on) {
                problem = goes_on.error();
            }
            return goes_on && *goes_on;
        };
        auto ended = http_stream(socket, target, "", take_event, kSilence, until);
        if (problem) {
            return tl::unexpected(std::move(*problem));
        }
        if (!ended && ended.error().code == Error::Code::gone && !has_begun) {
            continue;  // no daemon here: try the next socket
        }
        return ended;
    }
    return base::error(Error::Code::gone, "no daemon runs");
}

// Applies a message of the stream to the view.
base::Expected<void> update(const ServerSentEvent& event, std::optional<view::View>& view) {
    if (event.event == "view") {
        auto whole = view::from_json<view::View>(event.data);
        if (!whole) {
            return tl::unexpected(std::move(whole.error()));
        }
        view = std::move(*whole);
        return {};
    }
    auto change = view::from_json<view::ViewChange>(event.data);
    if (!change) {
        return tl::unexpected(std::move(change.error()));
    }
    if (!view) {
        return base::error(Error::Code::refused, "the daemon sent a change before a view");
    }
    apply(std::move(*change), *view);
    view->origin.time_ns = view::read_here().time_ns;
    return {};
}

}  // namespace

base::Expected<void> follow_view(std::chrono::milliseconds interval,
                                 const std::function<bool(const view::View&)>& take, int until) {
    std::optional<view::View> view;
    const auto take_event = [&](const ServerSentEvent& event) -> base::Expected<bool> {
        if (event.event != "view" && event.event != "change") {
            return true;  // from a newer daemon
        }
        if (auto done = update(event, view); !done) {
            return tl::unexpected(std::move(done.error()));
        }
        return take(*view);
    };
    return stream("/v1/stream?interval_ms=" + std::to_string(interval.count()), take_event, until);
}

base::Expected<void> follow_events(view::EventQuery query, const TakeRecentEvents& take, int until) {
    query.stream = true;
    const auto take_event = [&](const ServerSentEvent& event) -> base::Expected<bool> {
        view::EventsView recent;
        if (event.event == "missed" || event.event == "hidden") {
            uint64_t& number = event.event == "missed" ? recent.missed : recent.hidden_events;
            std::from_chars(event.data.data(), event.data.data() + event.data.size(), number);
            return take(std::move(recent));
        }
        if (event.event != "event") {
            return true;  // from a newer daemon
        }
        auto read = view::from_json<view::EventView>(event.data);
        if (!read) {
            return tl::unexpected(read.error());
        }
        recent.events.push_back(std::move(*read));
        return take(std::move(recent));
    };
    return stream(view::target_of<view::Events>(query), take_event, until);
}

}  // namespace ttmem::access
