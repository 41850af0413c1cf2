// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a request is to those who answer it, and what an answer is to those who send it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/http/query.hpp"

namespace ttmem::daemon::http {

// Who asks, in the kernel's words. Over TCP the kernel has none, and a token is all there is.
struct Caller {
    bool is_local = false;  // over the Unix socket: then uid and groups are the kernel's word
    uint32_t uid = 0;
    std::vector<uint32_t> groups;
    std::string bearer_token;  // as sent; empty: none
};

struct Request {
    Target target;
    Caller caller;
    std::string last_event_id;  // of a stream that goes on where another was cut
};

// A body of unknown length: each call gives the next piece, and an empty one ends it. Made on the worker, and only
// when the piece before was sent, so that a long list costs no memory.
using Pieces = std::function<std::string()>;

struct Response {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    Pieces more;  // where there is one, what follows `body`

    // {"error": "..."}
    static Response error(unsigned status, const std::string& text);
};

// An answer in the making. One of its calls is made, once, on any thread, at any time later; without one the caller gets
// an error when this object goes.
class Answer {
public:
    virtual ~Answer() = default;
    virtual void send(Response response) = 0;

    // Begins a stream of server-sent events. The returned call sends a piece of it, on any thread, and says false when
    // the caller is gone or too slow.
    using Push = std::function<bool(std::string)>;
    virtual Push begin_stream() = 0;
};

using Handler = std::function<void(Request, std::shared_ptr<Answer>)>;

}  // namespace ttmem::daemon::http
