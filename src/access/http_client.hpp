// SPDX-License-Identifier: Apache-2.0
#pragma once

// A client for the daemon: HTTP over its Unix socket, with deadlines.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "access/event_parser.hpp"
#include "base/error.hpp"

namespace ttmem::access {

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

// Error codes of both functions: `gone`: nothing listens there; `refused`: the peer is not a ttmem daemon, or it
// refuses; `failed`: everything else, such as a timeout, a broken connection or no permission to connect.
//
// The complete answer must arrive before the deadline. A status other than 200 is not an error here.
base::Expected<HttpAnswer> http_get(const std::filesystem::path& socket, const std::string& target,
                                    std::chrono::milliseconds deadline);

// Passes server-sent events to `take` until it returns false. The daemon's heartbeat is not an event, but shows that
// the daemon is alive. Returns an error if no byte arrives for `silence`, if the stream ends (`gone`) or if the
// status is not 200. The call also ends when the descriptor `until` becomes readable; -1: none.
base::Expected<void> http_stream(const std::filesystem::path& socket, const std::string& target,
                                 const std::string& last_event_id, const TakeEvent& take,
                                 std::chrono::milliseconds silence = std::chrono::seconds(30),
                                 int until = -1);

// Passes the bytes of an answer of any length to `take` until the answer ends, or `take` returns an error, which is returned. When the
// descriptor `until` becomes readable, the daemon is asked for the end, which must come within `patience`. Of another status than 200
// the answer has the body.
using TakeBytes = std::function<base::Expected<void>(std::string_view)>;
base::Expected<HttpAnswer> http_download(const std::filesystem::path& socket, const std::string& target,
                                         const TakeBytes& take, int until,
                                         std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace ttmem::access
