// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a face asks a daemon: HTTP over its Unix socket, waiting no longer than it wants to.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "access/event_parser.hpp"
#include "base/error.hpp"

namespace ttmem::access {

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

// Codes of errors, of both calls: `gone`, nobody listens there; `refused`, what answers is no daemon of ours or does not
// want to; `failed`, all else: too late, broken off, no right to connect.
//
// The answer must be there whole by the deadline. A status other than 200 is no error here.
base::Expected<HttpAnswer> http_get(const std::filesystem::path& socket, const std::string& target,
                                    std::chrono::milliseconds deadline);

// Gives server-sent events to `take` until that says false. The daemon's heartbeat is no event, but shows that it
// lives: an error where no byte comes for `silence`, where the stream ends (`gone`) and where the status is not 200.
// `until` is a descriptor that becomes readable when it is enough; -1: there is none.
base::Expected<void> http_stream(const std::filesystem::path& socket, const std::string& target,
                                 const std::string& last_event_id, const TakeEvent& take,
                                 std::chrono::milliseconds silence = std::chrono::seconds(30),
                                 int until = -1);

// A value as it stands in a query: "ttnn::matmul x" is "ttnn%3A%3Amatmul%20x".
std::string escape(std::string_view text);

}  // namespace ttmem::access
