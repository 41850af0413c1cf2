// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/api.hpp"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "daemon/api/metrics.hpp"
#include "daemon/page/page.hpp"
#include "page/document.hpp"
#include "view/json/json.hpp"
#include "view/questions/questions.hpp"
#include "view/questions/routes.hpp"

namespace ttmem::daemon {

using base::Error;
using http::Response;
using view::UrlForm;

namespace {

view::ApiError api_error_of(Error::Code code) {
    switch (code) {
        case Error::Code::gone:
        case Error::Code::not_found:
            return view::ApiError::not_found;
        case Error::Code::refused:
            return view::ApiError::bad_request;
        case Error::Code::denied:
            return view::ApiError::forbidden;
        default:
            return view::ApiError::internal;
    }
}

Response refusal(const Error& error) { return Response::error(api_error_of(error.code), error.text); }

// A user has a few places for answers in flight (Budget::answers). An answer with many rows takes most of them, so that a user who
// reads none of them makes the daemon hold one.
constexpr uint64_t kFewRows = 1'000;
constexpr uint64_t kPlacesOfManyRows = 6;

template <class Query>
uint64_t places_of(const Query& query) {
    uint64_t rows = 0;
    if constexpr (requires { query.limit; }) {
        rows = query.limit;
    }
    if constexpr (requires { query.last; }) {
        rows = query.last.value_or(rows);
    }
    return rows > kFewRows ? kPlacesOfManyRows : 1;
}

template <class Question>
base::Expected<http::Pieces> pieces_of(const DaemonHost& host, const typename Question::Query& query) {
    using View = typename Question::View;
    if constexpr (requires { Question::pieces(nullptr, query); }) {
        return Question::pieces(std::make_shared<const DaemonHost>(host), query);
    } else {
        auto view = Question::answer(host, query);
        if (!view) {
            return tl::unexpected(std::move(view.error()));
        }
        return view::JsonForm<View>::pieces(std::make_shared<const View>(std::move(*view)));
    }
}

// A short answer is sent whole. A long one is written while it is sent.
template <class Question>
Response respond(const DaemonHost& host, const typename Question::Query& query) {
    const auto pieces = pieces_of<Question>(host, query);
    if (!pieces) {
        return refusal(pieces.error());
    }
    Response response;
    response.body = (*pieces)();
    const std::string second = (*pieces)();
    if (!second.empty()) {
        response.body += second;
        response.more = *pieces;
    }
    return response;
}

}  // namespace

Api::Api(ApiDependencies dependencies)
    : dependencies_(std::move(dependencies)),
      view_stream_(dependencies_.loop, dependencies_.post, [this] { return read_view(); }),
      event_stream_(dependencies_.loop, dependencies_.post) {
    add_routes();
}

void Api::add_routes() {
    const auto add = [this](const char* path, auto member) {
        routes_.push_back(
            {path, "", [this, member](const AuthorizedRequest& request, const SharedResponder& responder) {
                 (this->*member)(request, responder);
             }});
    };
    add("/v1/health", &Api::send_health);
    view::Questions::for_each([this]<class Question>() { add_question<Question>(); });
    add("/v1/page", &Api::send_page_token);
    add("/v1/recording", &Api::stream_recording);
    add("/v1/stream", &Api::stream_view);
    add("/metrics", &Api::send_metrics);
    assert(std::none_of(routes_.begin(), routes_.end(), [this](const Route& one) {
        return std::any_of(&one + 1, std::as_const(routes_).data() + routes_.size(), [&](const Route& other) {
            return other.path == one.path && other.selector == one.selector;
        });
    }));
}

template <class Question>
void Api::add_question() {
    routes_.push_back({Question::kPath, view::selector_of<Question>(),
                       [this](const AuthorizedRequest& request, const SharedResponder& responder) {
                           answer<Question>(request, responder);
                       }});
}

const Api::Route* Api::find_route(const http::RequestTarget& target) const {
    const Route* found = nullptr;
    for (const Route& route : routes_) {
        const bool is_chosen =
            route.selector.empty() ? found == nullptr : target.query.contains(route.selector);
        if (route.path == target.path && is_chosen) {
            found = &route;
        }
    }
    return found;
}

std::vector<std::string> Api::selectors_of(const std::string& path) const {
    std::vector<std::string> selectors;
    for (const Route& route : routes_) {
        if (route.path == path && !route.selector.empty()) {
            selectors.push_back(route.selector);
        }
    }
    return selectors;
}

Response Api::no_such_address(const std::string& path) const {
    std::vector<std::string> paths;
    std::string list;
    for (const Route& route : routes_) {
        if (route.selector.empty()) {
            paths.push_back(route.path);
            list += (list.empty() ? "" : ", ") + route.path;
        }
    }
    const auto near = base::nearest(path, paths);
    return Response::error(view::ApiError::unknown_address,
                           "no such address: " + base::printable(path) +
                               (near ? " (did you mean " + *near + "?)" : "") + "; valid are " + list);
}

void Api::handle(http::Request request, const std::shared_ptr<http::Responder>& responder) {
    const Route* const route = find_route(request.target);
    if (route == nullptr) {
        if (auto page = page_response(request)) {
            return responder->send(std::move(*page));
        }
    }
    if (request.browser.is_foreign) {
        return responder->send(Response::error(view::ApiError::forbidden,
                                               "links of other sites may open the page, not its data"));
    }
    const bool is_on_socket = request.caller.is_local;
    if (const auto owner = page_tokens_.owner_of(request.caller.bearer_token, segment::monotonic_now())) {
        request.caller = *owner;
    }
    const auto permissions = Permissions::of(request.caller, dependencies_.rules);
    if (!permissions) {
        return responder->send(Response::error(view::ApiError::bad_token, permissions.error().text));
    }
    if (route == nullptr) {
        return responder->send(no_such_address(request.target.path));
    }
    route->handle({std::move(request.target), std::move(request.last_event_id), *permissions,
                   std::move(request.caller), is_on_socket},
                  responder);
}

template <class Question>
void Api::answer(const AuthorizedRequest& request, const SharedResponder& responder) {
    using Query = typename Question::Query;
    const std::string own = view::selector_of<Question>();
    auto query = UrlForm<Query>::read(
        request.target.query, own.empty() ? selectors_of(Question::kPath) : std::vector<std::string>());
    if (!query) {
        return responder->send(refusal(query.error()));
    }
    if (Question::kPermission == view::Permission::details && !request.permissions.may_see_details()) {
        return responder->send(Response::error(
            view::ApiError::forbidden,
            "over TCP only totals are shown: send the daemon's token (Authorization: Bearer ...), or ask on "
            "the Unix socket"));
    }
    const DaemonHost host(dependencies_.host, request.permissions);
    if constexpr (std::is_same_v<Question, view::Events>) {
        if (query->stream) {
            return event_stream_.subscribe(responder->begin_stream(), host, *query,
                                           dependencies_.host.history.newest_event(), request.last_event_id);
        }
    }
    const uint64_t places = places_of(*query);
    responder->make_later(places, [host, query = std::move(*query), responder] {
        responder->send(respond<Question>(host, query));
    });
}

view::View Api::read_view() const {
    auto view = view::Status::answer(DaemonHost(dependencies_.host, Permissions::totals_only()), {});
    assert(view);  // it names no device that could be missing
    return std::move(*view);
}

void Api::send_health(const AuthorizedRequest& request, const SharedResponder& responder) const {
    if (const auto query = UrlForm<view::HealthQuery>::read(request.target.query); !query) {
        return responder->send(refusal(query.error()));
    }
    Response response;
    response.body = nlohmann::ordered_json{{"status", "ok"},
                                           {"version", dependencies_.version},
                                           {"uptime_ns", segment::monotonic_now() - dependencies_.started_ns}}
                        .dump() +
                    "\n";
    responder->send(std::move(response));
}

// Only the kernel can say whose token it shall be.
void Api::send_page_token(const AuthorizedRequest& request, const SharedResponder& responder) {
    if (const auto query = UrlForm<view::HealthQuery>::read(request.target.query); !query) {
        return responder->send(refusal(query.error()));
    }
    if (!request.is_on_socket) {
        return responder->send(Response::error(
            view::ApiError::forbidden, "page tokens are issued only on the Unix socket ('ttmem web')"));
    }
    const auto token = page_tokens_.issue(request.caller, segment::monotonic_now());
    if (!token) {
        return responder->send(refusal(token.error()));
    }
    Response response;
    nlohmann::ordered_json body{{"token", *token},
                                {"valid_s", std::chrono::seconds(PageTokens::kLifetime).count()},
                                {"built", !page::sent_document().gzip.empty()},
                                {"socket", page_address_.socket},
                                {"address", nullptr},
                                {"no_address", nullptr}};
    if (page_address_.tcp) {
        body["address"] = *page_address_.tcp;
    } else {
        body["no_address"] = page_address_.tcp.error().text;
    }
    response.body = body.dump() + "\n";
    responder->send(std::move(response));
}

// Totals are enough for metrics, but for the series of processes: a server would keep them for years, and show everybody what
// each user ran.
void Api::send_metrics(const AuthorizedRequest& request, const SharedResponder& responder) const {
    const auto query = UrlForm<view::MetricsQuery>::read(request.target.query);
    if (!query) {
        return responder->send(refusal(query.error()));
    }
    if (query->processes && !request.permissions.may_see_details()) {
        return responder->send(Response::error(
            view::ApiError::forbidden,
            "series of processes need the daemon's token over TCP (ttmemd --token-file FILE, and "
            "'Authorization: Bearer TOKEN'), or the Unix socket; without 'processes' no token is needed"));
    }
    const DaemonHost host(dependencies_.host, request.permissions);
    const auto processes = query->processes ? ProcessSeries::yes : ProcessSeries::no;
    responder->make_later(query->processes ? kPlacesOfManyRows : 1, [this, host, processes, responder] {
        const Readings readings{read_view().figures, *host.self(), dependencies_.host.history.failures(),
                                dependencies_.host.post_mortems.deaths()};
        responder->send({200, kMetricsType, to_metrics(readings, processes), {}});
    });
}

void Api::stream_recording(const AuthorizedRequest& request, const SharedResponder& responder) {
    const auto query = UrlForm<view::RecordingQuery>::read(request.target.query);
    if (!query) {
        return responder->send(refusal(query.error()));
    }
    if (!request.permissions.may_see_details()) {
        return responder->send(
            Response::error(view::ApiError::forbidden,
                            "over TCP recordings need the daemon's token (Authorization: Bearer ...); "
                            "'ttmem record' asks on the Unix socket"));
    }
    const User user = request.caller.is_local ? User{request.caller.uid} : kUnknownUser;
    dependencies_.recordings.begin(responder, user, request.permissions, *query);
}

void Api::stream_view(const AuthorizedRequest& request, const SharedResponder& responder) {
    const auto query = UrlForm<view::ViewStreamQuery>::read(request.target.query);
    if (!query) {
        return responder->send(refusal(query.error()));
    }
    const uint64_t interval = std::min(query->interval_ms, view::kLongestIntervalMs);
    view_stream_.subscribe(responder->begin_stream(), request.last_event_id,
                           std::chrono::milliseconds(interval));
}

void Api::stop() {
    view_stream_.stop();
    event_stream_.stop();
}

}  // namespace ttmem::daemon
