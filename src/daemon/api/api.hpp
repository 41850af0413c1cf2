// SPDX-License-Identifier: Apache-2.0
#pragma once

// The HTTP API of ttmemd (docs/API.md). Questions (view/questions/questions.hpp) become routes by themselves; here are the routes
// that are no questions, the streams, and who may ask. Only /v1/health is answered on the loop: what others ask for has a size that
// somebody else chose.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/daemon_host.hpp"
#include "daemon/api/event_stream.hpp"
#include "daemon/api/page_tokens.hpp"
#include "daemon/api/permissions.hpp"
#include "daemon/api/view_stream.hpp"
#include "daemon/http/message.hpp"
#include "daemon/post_task.hpp"
#include "daemon/record/recording_streams.hpp"

namespace ttmem::daemon {

struct ApiDependencies {
    boost::asio::io_context& loop;
    PostTask post;  // for the streams; a Responder runs the making of an answer
    HostDependencies host;
    RecordingStreams& recordings;
    AccessRules rules;
    std::string version;
    uint64_t started_ns = 0;  // of the monotonic clock
};

class Api {
public:
    explicit Api(ApiDependencies dependencies);

    // Where the page is: the Unix socket, and the address on TCP or why there is none. Before the first request.
    struct PageAddress {
        std::string socket;
        base::Expected<std::string> tcp;
    };
    void set_page_address(PageAddress address) { page_address_ = std::move(address); }

    // On the loop.
    void handle(http::Request request, const std::shared_ptr<http::Responder>& responder);
    void stop();

private:
    // A request, and what its sender may see.
    struct AuthorizedRequest {
        http::RequestTarget target;
        std::string last_event_id;
        Permissions permissions;
        http::Caller caller;        // of a token: its user
        bool is_on_socket = false;  // the kernel says who it is
    };
    using SharedResponder = std::shared_ptr<http::Responder>;

    struct Route {
        std::string path;
        std::string selector;  // chosen where this parameter is given; empty: where no other is
        std::function<void(const AuthorizedRequest&, const SharedResponder&)> handle;
    };

    void add_routes();
    template <class Question>
    void add_question();
    const Route* find_route(const http::RequestTarget& target) const;
    http::Response no_such_address(const std::string& path) const;
    std::vector<std::string> selectors_of(const std::string& path) const;

    template <class Question>
    void answer(const AuthorizedRequest& request, const SharedResponder& responder);
    void send_health(const AuthorizedRequest& request, const SharedResponder& responder) const;
    void send_page_token(const AuthorizedRequest& request, const SharedResponder& responder);
    void send_metrics(const AuthorizedRequest& request, const SharedResponder& responder) const;
    void stream_recording(const AuthorizedRequest& request, const SharedResponder& responder);
    void stream_view(const AuthorizedRequest& request, const SharedResponder& responder);

    view::View read_view() const;

    ApiDependencies dependencies_;
    std::vector<Route> routes_;
    PageTokens page_tokens_;
    PageAddress page_address_{"", ""};
    ViewStream view_stream_;
    EventStream event_stream_;
};

}  // namespace ttmem::daemon
