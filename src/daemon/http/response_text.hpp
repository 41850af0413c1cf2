// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a response around its body, made by Beast's serializer. Private to src/daemon/http.

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <string>

#include "daemon/http/message.hpp"

namespace ttmem::daemon::http {

using ResponseHead = boost::beast::http::response<boost::beast::http::empty_body>;

// The fields that all responses share. The caller adds the framing: length, chunks or the end of the connection.
ResponseHead make_head(unsigned status, const std::string& content_type);

// With the empty line that ends the head.
std::string to_text(const ResponseHead& head);

// A piece of a chunked body. An empty piece would end the body: last_chunk() does that.
std::string to_chunk(const std::string& piece);
std::string last_chunk();

}  // namespace ttmem::daemon::http
