// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests and responses as the handler sees them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/query.hpp"
#include "view/model/api_error.hpp"

namespace ttmem::daemon::http {

// The identity of the caller. Over the Unix socket it comes from the kernel; over TCP there is only a token.
struct Caller {
    bool is_local = false;  // over the Unix socket: uid and groups are valid
    uint32_t uid = 0;
    std::vector<uint32_t> groups;
    std::string bearer_token;  // as sent; empty if there was none
};

// What a browser says about a request.
struct BrowserRequest {
    bool wants_document = false;  // it navigates, or accepts HTML
    bool accepts_gzip = false;
    bool is_foreign = false;  // a link on another site: only the page itself may answer
};

struct Request {
    RequestTarget target;
    Caller caller;
    std::string last_event_id;  // of a caller that resumes a stream
    BrowserRequest browser = {};
};

// Text that several connections may send.
using SharedText = std::shared_ptr<const std::string>;

// A body of unknown length: each call returns the next piece, and an empty piece ends the body. Called on a worker, and only
// after the previous piece was sent, so that a long list costs no memory.
using Pieces = std::function<std::string()>;

struct Response {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    Pieces more;  // if set, returns what follows `body`
    std::vector<std::pair<std::string, std::string>> fields =
        {};  // further ones of the head, or other values

    // {"error": "...", "code": "..."}
    static Response error(view::ApiError code, const std::string& text);
};

enum class StreamKind : uint8_t {
    events,    // server-sent events
    download,  // bytes. A reader that closes its sending side asks for the end of what it downloads
};

// The writing side of a stream, for any thread. The stream ends when it is destroyed.
class StreamWriter {
public:
    enum class Readiness : uint8_t {
        ready,  // the reader has taken everything
        busy,  // text waits for the reader, or for other readers of the same user: push later, and then what is true then
        gone,
    };

    virtual ~StreamWriter() = default;
    virtual Readiness readiness() const = 0;

    // Several streams may share a text. False when the reader has gone or is too slow.
    virtual bool push(SharedText text) = 0;

    // The reader of a download waits for its end.
    virtual bool is_end_wanted() const { return false; }
};

// Sends the response to one request. The handler calls one of its functions once, on any thread, at any time. If it calls none,
// the destructor sends an error.
class Responder {
public:
    virtual ~Responder() = default;
    virtual void send(Response response) = 0;

    // Runs `make`, which sends the response, on a worker on behalf of the caller, as soon as the caller's user has this many places
    // for answers. They are free again when the response is sent or the connection has closed. On the loop.
    virtual void make_later(uint64_t places, std::function<void()> make) = 0;

    virtual std::shared_ptr<StreamWriter> begin_stream(StreamKind kind = StreamKind::events) = 0;
};

using Handler = std::function<void(Request, std::shared_ptr<Responder>)>;

}  // namespace ttmem::daemon::http
